"""How often intervals of agreement hold where a judge's errors sit in few queries.

A judge is good on most queries and errs in half of the passages of a few, or as often as a beta
distribution says, another on each query; or as often on all. A query has 20 passages, or 6 of
which few are relevant. Intervals of kappa: Student's with as many degrees of freedom as queries;
with as many as queries that have a disagreement (as `stats kappa` has them); the former, only where
three queries or more have one. Of rates: with as many as queries, and as those that have any of
what a share is of (as `stats rates` has them). The truth is what endless queries say.

    python -m tests.benchmarks.few_errors [--collections 1000]
"""

import argparse
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table

from gradelake.analyses.stats import rates
from gradelake.analyses.stats.kappas import Met, apart, kappa
from gradelake.analyses.stats.resample import Spread

QUERIES, REPLICATES, ENDLESS, LEAST = (5, 10, 15, 25, 50), 300, 200_000, 3
SCALE = (np.arange(2), np.arange(2))
DISTANCE = apart("binary", SCALE, 1, 1)
RATES = ("sensitivity", "specificity", "corrected")
console = Console(highlight=False, width=125)


def errors(generator: np.random.Generator, world: str, queries: int) -> np.ndarray:
    """How often a judge errs on each query."""
    if world == "as many in each":
        return np.full(queries, 0.1)
    if world == "differing":
        return generator.beta(0.3, 2, queries)
    share = {"in a tenth": 0.1, "in a fifth": 0.2}[world]
    return np.where(generator.random(queries) < share, 0.5, 0.01)


WORLDS = ("as many in each", "differing", "in a fifth", "in a tenth")


def draw(generator, world: str, queries: int, size: int = 20, relevant: float = 2) -> np.ndarray:
    """How often labels meet judgments: (queries, 2, 2)."""
    error = errors(generator, world, queries)
    n_relevant = generator.binomial(size, generator.beta(relevant, 4, queries))
    missed = generator.binomial(n_relevant, error)
    wrong = generator.binomial(size - n_relevant, error)
    rows = [[size - n_relevant - wrong, missed], [wrong, n_relevant - missed]]
    return np.moveaxis(np.array(rows), -1, 0) * 1.0


def kappa_spreads(counts: np.ndarray) -> list[Spread]:
    """By all queries, by those with a disagreement, and by all if these are three or more."""
    met = Met(SCALE, counts)
    value = float(kappa(counts.sum(axis=0), DISTANCE))
    drawn = met.resampled(lambda of: kappa(of, DISTANCE)[:, None], REPLICATES, 1)[:, 0]
    n = met.n_disagreeing(DISTANCE)
    by_all, by_telling = (
        met.spread(value, drawn, 0.95, of, is_correlation=True) for of in (len(counts), n)
    )
    return [by_all, by_telling, by_all if n >= LEAST else by_all.without("few")]


def judged(counts: np.ndarray) -> np.ndarray:
    """Passages by label: all of them; those that people, who judged all, hold relevant; others."""
    return np.stack([counts.sum(axis=-1), counts[..., 1], counts[..., 0]], axis=-1)


def rate_spreads(counts: np.ndarray) -> list[dict[str, Spread]]:
    """By all queries, and by those that have any of what a share is of."""
    met = Met((SCALE[0], np.arange(3)), judged(counts))
    asked = met, int(counts.sum()), REPLICATES, 1, 0.95
    of_all = dict.fromkeys(rates.FIGURES, len(counts))
    with patch.object(rates, "_n_units", lambda *_: of_all):
        by_all = rates.rates_of(*asked)[0].spreads
    return [by_all, rates.rates_of(*asked)[0].spreads]


def held(spreads: list[Spread], truth: float) -> str:
    """`93.1% (of 88%)`: of those that are given, which hold the truth."""
    ends = np.array([(one.low, one.high) for one in spreads if one.low is not None])
    if not len(ends):
        return "none"
    share = np.mean((ends[:, 0] - 1e-9 <= truth) & (truth <= ends[:, 1] + 1e-9))
    return f"{share:.0%} (of {len(ends) / len(spreads):.0%})"


def kappa_table(n: int) -> Table:
    table = Table("errors", "interval", *(f"{queries} queries" for queries in QUERIES))
    table.title = f"Kappa of {n} collections: intervals that hold the truth (of how many)"
    for world in WORLDS:
        endless = draw(np.random.default_rng(1), world, ENDLESS).sum(axis=0)
        truth = float(kappa(endless, DISTANCE))
        generator = np.random.default_rng(2)
        cells = []
        for queries in QUERIES:
            found = [kappa_spreads(draw(generator, world, queries)) for _ in range(n)]
            cells.append([held(list(of), truth) for of in zip(*found, strict=True)])
        names = ("all queries", "that disagree", f"all, if {LEAST} disagree")
        for name, row in zip(names, zip(*cells, strict=True), strict=True):
            table.add_row(world, name, *row)
    return table


def rates_table(n: int) -> Table:
    table = Table("errors", "figure", "interval", *(f"{queries} queries" for queries in QUERIES))
    table.title = f"Few relevant passages, {n} collections: intervals that hold (of how many)"
    small = {"size": 6, "relevant": 0.6}
    for world in WORLDS:
        endless = judged(draw(np.random.default_rng(1), world, ENDLESS, **small).sum(axis=0))
        truth = dict(zip(rates.FIGURES, rates.figures(endless, SCALE[0] >= 1), strict=True))
        generator = np.random.default_rng(2)
        cells = {(figure, by): [] for figure in RATES for by in ("all queries", "that have any")}
        for queries in QUERIES:
            found = [rate_spreads(draw(generator, world, queries, **small)) for _ in range(n)]
            for (figure, by), of in cells.items():
                spreads = [one[by != "all queries"][figure] for one in found]
                of.append(held(spreads, truth[figure]))
        for (figure, by), of in cells.items():
            table.add_row(world, figure, by, *of)
    return table


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=1000)
    n = parser.parse_known_args()[0].collections
    console.print(kappa_table(n))
    console.print(rates_table(n))


if __name__ == "__main__":
    main()
