"""How often `gradelake gate` is wrong where the truth is known: nulls by the thousand.

Pairs of systems at most five ranks apart on the demo and, where its data is at hand, on TREC DL
2019, their queries drawn anew with replacement. Fair ones: whose a score is is chance, so nothing
fell. Skewed ones keep the sides, and the pair's mean is taken off. Counted is how often one fell
that did not, or by just the tolerance, and how often a drop of just the tolerance passed.

And differences made up to deceive, in `DECEIVING`: lower by just the tolerance, or by more, though
most samples do not look so; and the same turned round. And how many queries each way takes.

    python -m tests.benchmarks.gates [--nulls 3000] [--only deceiving]
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.gate.sample import ANY, TYPICAL, Difference
from gradelake.analyses.gate.verdict import FELL, PASSED, judge, queries_needed
from gradelake.analyses.stats.boards import UNIT, Board, read_board
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests import lakes
from tests.places import missing_dl19

TOLERANCE, ALPHA = 0.01, 0.05
MEASURES = ("nDCG@10", "AP", "RR", "P@10")
NEAR = 5  # ranks apart
console = Console(highlight=False, width=130)


Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def mixed(*kinds: tuple[float, float, float]) -> Draw:
    """Differences of several kinds: the share of each, where it lies, and how far to both sides."""
    shares, places, widths = map(np.array, zip(*kinds, strict=True))

    def draw(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        kind = generator.choice(len(shares), p=shares, size=shape)
        return places[kind] + widths[kind] * generator.uniform(-1, 1, shape)

    return draw


def lognormal(sigma: float) -> Draw:
    """Losses of 0.01 on average, the most of which are small."""
    return lambda generator, shape: np.maximum(
        -1, -1.0005 * TOLERANCE * np.exp(sigma * generator.normal(size=shape) - sigma**2 / 2)
    )


def beta(a: float, b: float) -> Draw:
    return lambda generator, shape: generator.beta(a, b, shape) - a / (a + b) - TOLERANCE


def heavy(scale: float) -> Draw:
    return lambda generator, shape: (
        np.clip(scale * generator.standard_t(3, shape), -0.98, 0.98) - TOLERANCE
    )


# all have a mean of -0.01 or less; of those that may fall wrongly, of -0.01 or more
MADE_BY_OTHERS: dict[str, Draw] = {
    "5 % lose 0.2": mixed((0.05, -0.2, 0), (0.95, 0, 0.001)),
    "1.1 % lose 1, 10 % gain 0.01": mixed((0.011, -1, 0), (0.1, 0.01, 0), (0.889, 0, 0)),
    "10 % lose 0.5": mixed((0.1, -0.5, 0), (0.9, 0, 0.001)),
    "lognormal losses, sigma 1": lognormal(1),
    "lognormal losses, sigma 1.5": lognormal(1.5),
    "lognormal losses, sigma 2": lognormal(2),
}
MADE_TO_FALL: dict[str, Draw] = {
    "96 % lose 0.0208, 4 % gain 0.5": mixed((0.96, -0.0208, 0.0005), (0.04, 0.5, 0))
}
OWN: dict[str, Draw] = {
    "all lose 0.01": mixed((1, -0.01, 0)),
    "1 % lose 1": mixed((0.01, -1, 0), (0.99, 0, 0)),
    "0.5 % lose 1, others about 0.005": mixed((0.005, -1, 0), (0.995, -0.005 / 0.995, 0.004)),
    "2.5 % lose 1, 1.5 % gain 1": mixed((0.025, -1, 0), (0.015, 1, 0), (0.96, 0, 0)),
    "10 % lose 1, 90 % gain 0.1": mixed((0.1, -1, 0), (0.9, 0.1, 0)),
    "all lose 1 or gain 1": mixed((0.505, -1, 0), (0.495, 1, 0)),
    "3 % lose 1, others 0.02 +- 0.1": mixed((0.03, -1, 0), (0.97, 0.02 / 0.97, 0.1)),
    "10 % lose 0.5, others 0.04 +- 0.17": mixed((0.1, -0.5, 0), (0.9, 0.04 / 0.9, 0.17)),
    "5 % lose 0.2, others +- 0.02": mixed((0.05, -0.2, 0), (0.95, 0, 0.02)),
    "60 % equal, others +- 0.5": mixed((0.6, 0, 0), (0.4, -0.025, 0.5)),
    "beta 8, 0.5": beta(8, 0.5),
    "beta 20, 0.2": beta(20, 0.2),
    "Student's t with 3 df": heavy(0.1),
}
SIZES = 5, 8, 20, 43, 100, 300


def deceiving(n_nulls: int) -> Table:
    """How often each way is wrong of them, by how many queries."""
    table = Table(title=f"Wrong verdicts in {n_nulls:,} nulls made up to deceive; alpha {ALPHA}")
    for head in ("differences", "wrong", "way", *map(str, SIZES)):
        table.add_column(head)
    turned = {name: _turned(draw) for name, draw in (MADE_BY_OTHERS | OWN).items()}
    generator = np.random.default_rng(2)
    for wrong, of in ((PASSED, MADE_BY_OTHERS | OWN), (FELL, MADE_TO_FALL | turned)):
        for name, draw in of.items():
            for way in (TYPICAL, ANY):
                shares = []
                for n in SIZES:
                    drawn = draw(generator, (n_nulls, n))
                    if np.abs(drawn).max() > 1:
                        break  # turned round, some would leave the scale
                    p = [_p(one, way, wrong) for one in drawn]
                    shares.append(f"{np.mean(np.array(p) <= ALPHA):.1%}")
                else:
                    table.add_row(name, wrong, way, *shares)
    return table


def _turned(draw: Draw) -> Draw:
    return lambda generator, shape: -2 * TOLERANCE - draw(generator, shape)


def _p(drawn: np.ndarray, way: str, wrong: str) -> float:
    found = Difference.of(np.rint(drawn * UNIT), TOLERANCE, ALPHA, sure=way)
    return found.p_passed if wrong == PASSED else found.p_fell


def costs() -> Table:
    """Of how many queries an equal system passes in four of five cases."""
    table = Table(title="Queries for an equal system to pass in four of five cases")
    for head in ("tolerance", "spread", TYPICAL, ANY):
        table.add_column(head)
    noise = np.random.default_rng(3).laplace(size=200)
    noise = np.concatenate([noise, -noise]) / noise.std() / 2
    for tolerance in (0.01, 0.02, 0.05, 0.1):
        for spread in (0.02, 0.05, 0.1, 0.2):
            drawn = np.rint(np.clip(2 * spread * noise, -1, 1) * UNIT)
            found = [Difference.of(drawn, tolerance, ALPHA, sure=way) for way in (TYPICAL, ANY)]
            needed = [queries_needed(one, tolerance, ALPHA, 1)[1] for one in found]
            table.add_row(*map(str, (tolerance, spread)), *(f"{n:,}" for n in needed))
    return table


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
    parser.add_argument("--only", choices=["deceiving"])
    asked = parser.parse_known_args()[0]
    n_nulls = asked.nulls
    console.print(deceiving(n_nulls))
    console.print(costs())
    if asked.only:
        return
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
