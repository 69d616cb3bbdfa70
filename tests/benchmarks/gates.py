"""How often `gradelake gate` is wrong where the truth is known: nulls by the thousand.

Pairs of systems at most five ranks apart on the demo and, where its data is at hand, on TREC DL
2019, their queries drawn anew with replacement. Fair ones: whose a score is is chance, so nothing
fell. Skewed ones keep the sides, and the pair's mean is taken off. Counted is how often one fell
that did not, or by just the tolerance, and how often a drop of just the tolerance passed.

    python -m tests.benchmarks.gates [--nulls 3000]
"""

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.gate.verdict import FELL, PASSED, judge
from gradelake.analyses.stats.boards import UNIT, Board, read_board
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import lakes
from tests.places import missing_dl19

TOLERANCE, ALPHA = 0.01, 0.05
MEASURES = ("nDCG@10", "AP", "RR", "P@10")
NEAR = 5  # ranks apart
console = Console(highlight=False, width=130)


def near_pairs(boards: list[Board]) -> list[tuple[int, int]]:
    """Columns of systems that are at most `NEAR` ranks apart by the first board, and differ."""
    order = np.argsort(-boards[0].values.mean(axis=0))
    pairs = [(a, b) for n, a in enumerate(order) for b in order[n + 1 : n + 1 + NEAR]]
    return [
        (a, b)
        for a, b in pairs
        if all((one.values[:, a] != one.values[:, b]).any() for one in boards)
    ]


def nulls(folder: Path, collection: str, assessor: str, n_nulls: int, table: Table) -> None:
    """How often verdicts are wrong, by each measure and by all four together."""
    with Lake.published(Project.find(folder)) as lake:
        boards = [read_board(lake, collection, f"assessor:{assessor}", m) for m in MEASURES]
    pairs = near_pairs(boards)
    generator = np.random.default_rng(1)
    for kind in ("fair", "skewed"):
        for chosen in [*([board] for board in boards), boards]:
            wrong = _wrong(chosen, kind == "fair", pairs, n_nulls, generator) / n_nulls
            name = chosen[0].measure if len(chosen) == 1 else f"all {len(chosen)}"
            table.add_row(collection, kind, name, *(f"{share:.1%}" for share in wrong))


def _wrong(
    boards: list[Board],
    is_fair: bool,
    pairs: list[tuple[int, int]],
    n_nulls: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """How many fell without a drop, fell by just the tolerance, and passed with that."""
    n_queries, wrong = len(boards[0].queries), np.zeros(3)
    for _ in range(n_nulls):
        a, b = pairs[generator.integers(len(pairs))]
        rows = generator.integers(0, n_queries, n_queries)
        sides = generator.choice([-1, 1], n_queries if is_fair else 1)
        measures, lower = [], []
        for board in boards:
            differences = board.values[:, a] - board.values[:, b]
            if not is_fair:
                differences = np.rint(differences - differences.mean())
            drawn = differences[rows] * sides
            for made, drop in ((measures, 0), (lower, TOLERANCE * UNIT)):
                values = np.stack([drawn - drop, np.zeros(n_queries)], axis=1)
                made.append(replace(board.of(list(board.systems[:2])), values=values))
        by_tolerance = judge(lower, TOLERANCE, ALPHA).verdict
        wrong += (
            judge(measures, TOLERANCE, ALPHA).verdict == FELL,
            by_tolerance == FELL,
            by_tolerance == PASSED,
        )
    return wrong


def main() -> None:
    """Draw, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--nulls", type=int, default=3000)
    n_nulls = parser.parse_known_args()[0].nulls
    alarms = Table(title=f"Wrong verdicts in {n_nulls:,} nulls; alpha {ALPHA}")
    heads = ("fell: no drop", "fell: drop = tolerance", "passed: drop = tolerance")
    for head in ("collection", "nulls", "measure", *heads):
        alarms.add_column(head)
    makers = {("demo", "human"): lakes.make_demo}
    if reason := missing_dl19():
        console.print(reason)
    else:
        makers["dl19", "nist"] = lakes.make_dl19
    with tempfile.TemporaryDirectory() as place:
        for (collection, assessor), make in makers.items():
            make(Path(place) / collection)
            nulls(Path(place) / collection, collection, assessor, n_nulls, alarms)
    console.print(alarms)


if __name__ == "__main__":
    main()
