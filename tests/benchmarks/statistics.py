"""Statistics: 10,000 replicates on a board of TREC DL 2019's size, against scipy one at a time.

A label set with 37 systems and 43 queries, one measure: correlations with official ranks resampled
over queries, systems, and both, with a permutation test; significance of all 666 pairs; alpha of
10,000 pairs of labels. scipy's time is that of 200 replicates, scaled up. Absolute times depend on
the machine; the ratio is the result.

    python -m tests.benchmarks.statistics [--replicates 10000]
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import stats

from gradelake.analyses.stats.boards import UNIT, Board, OfficialRanks
from gradelake.analyses.stats.correlation import agreement
from gradelake.analyses.stats.krippendorff_alpha import bootstrap_alpha, coincidences
from gradelake.analyses.stats.significance import compare_pairs

QUERIES, SYSTEMS, ONE_BY_ONE = 43, 37, 200
console = Console(highlight=False, width=100)


def timed(work: Callable[[], object]) -> float:
    """Wall seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def board() -> tuple[Board, OfficialRanks]:
    """Random values around skills that rise from system to system."""
    generator = np.random.default_rng(1)
    values = np.clip(
        np.linspace(0.3, 0.6, SYSTEMS) + generator.normal(0, 0.2, (QUERIES, SYSTEMS)), 0, 1
    )
    names = tuple(f"s{n:02d}" for n in range(SYSTEMS))
    made = Board(
        "judge:x",
        1,
        "nDCG@10",
        tuple(f"q{n:02d}" for n in range(QUERIES)),
        names,
        np.rint(values * UNIT),
        np.rint(values.mean(axis=0) * 1e4),
    )
    ranks = dict(zip(names, range(SYSTEMS, 0, -1), strict=True))
    return made, OfficialRanks("official", ranks)


def scipy_one_by_one(made: Board, official: OfficialRanks, n: int) -> None:
    """Spearman and tau-b of `n` replicates over queries, over systems and over both."""
    generator = np.random.default_rng(1)
    ranks = -np.array([official.ranks[name] for name in made.systems])
    for _ in range(n):
        rows = generator.integers(0, QUERIES, QUERIES)
        columns = generator.integers(0, SYSTEMS, SYSTEMS)
        scores = made.values[rows].mean(axis=0).round(-6)
        for one, other in (
            (scores, ranks),
            (made.printed[columns], ranks[columns]),
            (scores[columns], ranks[columns]),
        ):
            stats.spearmanr(one, other)
            stats.kendalltau(one, other)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replicates", type=int, default=10_000)
    n = parser.parse_known_args()[0].replicates
    made, official = board()
    generator = np.random.default_rng(1)
    labels = generator.integers(0, 4, 20_000)
    pairs = np.tile(np.arange(10_000), 2)
    found = coincidences((pairs % QUERIES).astype(str), pairs, labels)
    scipy_seconds = timed(lambda: scipy_one_by_one(made, official, ONE_BY_ONE)) * n / ONE_BY_ONE
    rows = [
        ("correlations", timed(lambda: agreement(made, official, n_replicates=n))),
        (
            "the same with a second label set",
            timed(lambda: agreement(made, official, made, n_replicates=n)),
        ),
        ("scipy, one by one (no tau-AP, no test)", scipy_seconds),
        ("significance of 666 pairs", timed(lambda: compare_pairs(made, n_replicates=n))),
        ("Krippendorff's alpha", timed(lambda: bootstrap_alpha(found, "ordinal", n))),
    ]
    table = Table(title=f"{n:,} replicates, {SYSTEMS} systems, {QUERIES} queries")
    table.add_column("statistics")
    table.add_column("seconds", justify="right")
    for name, seconds in rows:
        table.add_row(name, f"{seconds:.2f}")
    console.print(table)
    console.print(f"scipy takes {scipy_seconds / rows[0][1]:.0f} times as long")


if __name__ == "__main__":
    main()
