"""How often `gradelake compare` calls a system better that is not: nulls by the thousand.

Differences of two systems on n queries, with a mean of 0 over endless queries like them: normal;
reciprocal ranks of two rankers that are equally good; most queries alike and few far apart; a few
large losses that many small gains make up for. Queries count alike, or have log-normal weights.

    python -m tests.benchmarks.better [--nulls 4000]
"""

import argparse
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.stats.boards import UNIT
from gradelake.analyses.stats.counting import Counting, Units
from gradelake.analyses.stats.significance import (
    ALIKE,
    REPLICATES,
    flipped_ends,
    randomisation_test,
    student_p,
)

ALPHA, SEED = 0.05, 1
QUERIES = (6, 15, 43, 100, 300)
SPREADS = (0.0, 0.5, 1.0, 1.5, 2.0)  # of log-normal weights; 0: all count alike
WEIGHTINGS = 20  # draws of weights, which all nulls of a cell share between them
console = Console(highlight=False, width=120)
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _reciprocal_ranks(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    chances = generator.choice([0.2, 0.5, 0.9], size=shape)
    ours, theirs = (1 / generator.geometric(chances) for _ in range(2))
    return ours - theirs


def _few_apart(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return generator.choice([-0.6, 0, 0.6], p=[0.1, 0.8, 0.1], size=shape)


def _rare_losses(generator: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return np.where(generator.random(shape) < 0.1, -0.45, 0.05)


NULLS: dict[str, Draw] = {
    "normal": lambda generator, shape: generator.normal(0, 0.2, shape),
    "reciprocal ranks": _reciprocal_ranks,
    "few apart": _few_apart,
    "rare losses": _rare_losses,
}


def wrongly_better(draw: Draw, n: int, spread: float, n_nulls: int, seed: int = SEED) -> float:
    """The share of nulls of which one system is called better; the interval must leave out 0 in
    the same ones."""
    generator = np.random.default_rng(seed)
    n_parts = WEIGHTINGS if spread else 1
    n_better = 0
    for part in range(n_parts):
        differences = np.rint(draw(generator, (n, n_nulls // n_parts)) * UNIT)
        if not spread:
            p, _ = randomisation_test(differences, REPLICATES, SEED + part)
            low, high = flipped_ends(differences, ALPHA, REPLICATES, SEED + part)
            assert np.array_equal(p <= ALPHA, (low > 0) | (high < 0))
        else:
            weights = generator.lognormal(0, spread, n)
            counting = Counting(weights / weights.mean(), np.arange(n).astype(str))
            units = Units.of(differences, counting)
            p = student_p(units) if units.n_effective >= ALIKE else np.ones(differences.shape[1])
        n_better += (p <= ALPHA).sum()
    return float(n_better / (n_parts * (n_nulls // n_parts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nulls", type=int, default=4000)
    n_nulls = parser.parse_args().nulls
    table = Table(title=f"called better, though neither is, % of {n_nulls:,} (alpha {ALPHA:.0%})")
    table.add_column("weights' spread", justify="right")
    table.add_column("differences")
    for n in QUERIES:
        table.add_column(f"{n} queries", justify="right")
    for spread in SPREADS:
        for name, draw in NULLS.items():
            shares = (100 * wrongly_better(draw, n, spread, n_nulls) for n in QUERIES)
            table.add_row(f"{spread:g}", name, *(f"{share:.1f}" for share in shares))
    console.print(table)


if __name__ == "__main__":
    main()
