"""How often 95 % intervals of `click_labels` hold what a passage attracts on endless days.

Passages are shown on some days, on each to more people or fewer, at one position each, and attract
clicks as a gamma distribution says. On each day a passage attracts more or less than usual
(log-normal, of standard deviation sigma): each by itself, some passages alone, or all alike, as on
a holiday. Intervals by the product's own SQL, beside those of a Poisson count.

    python -m tests.benchmarks.clicks [--passages 4000]
"""

import argparse

import duckdb
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from scipy.stats import chi2

from tests.benchmarks.models import model_sql

DAYS, CLICKS = (2, 3, 7, 14, 30), (5, 50)  # clicks of a passage, over all days
SHOWN_ALIKE = 100  # passages of a collection
ALIKE, BY_ITSELF, SOME, TOGETHER = WORLDS = (
    "alike",
    "each by itself, 0.5",
    "three in ten, 1",
    "together, 0.5, and by itself, 0.2",
)
console = Console(highlight=False, width=110)


def draw(generator: np.random.Generator, world: str, passages: int, days: int, clicks: int):
    """(passages, days): clicks and impressions, at a rate of 0.01; and what each attracts."""
    shape = passages, days
    shown = np.ceil(generator.gamma(5, 20, shape) * clicks / days)
    attracts = generator.gamma(4, 1 / 4, passages)
    sigma = np.full((passages, 1), {ALIKE: 0, BY_ITSELF: 0.5, TOGETHER: 0.2}.get(world, 1.0))
    if world == SOME:
        sigma *= generator.random((passages, 1)) < 0.3
    day = np.exp(generator.normal(0, 1, shape) * sigma - sigma**2 / 2)
    if world == TOGETHER:
        holidays = generator.normal(0, 0.5, (passages // SHOWN_ALIKE, days)) - 0.125
        day *= np.repeat(np.exp(holidays), SHOWN_ALIKE, axis=0)
    return generator.poisson(shown * 0.01 * attracts[:, None] * day), shown, attracts


def intervals(clicked: np.ndarray, shown: np.ndarray) -> pl.DataFrame:
    """What the mart says of passages, among many that make a position's usual rate 0.01."""
    passages, days = (axis.ravel() for axis in np.indices(clicked.shape))
    log = {"query_id": "q", "position": 1, "day": days}
    of = {"passage_id": passages, "n_clicks": clicked.ravel(), "n_impressions": shown.ravel()}
    usual = {"passage_id": -1, "n_clicks": 10**10, "n_impressions": 10.0**12, "day": 0}
    clicks = pl.concat(
        [pl.DataFrame(log | of), pl.DataFrame([log | usual])], how="vertical_relaxed"
    ).with_columns(collection=pl.lit("c"))
    bins = pl.DataFrame({"least_coec": [0.0], "label": [0], "least_expected": [0.0]})
    with duckdb.connect() as connection:
        connection.register("clicks", clicks)
        connection.register("click_bins", bins)
        found = connection.execute(model_sql("marts/labels/click_labels", "student_t")).pl()
    return found.filter(pl.col("passage_id") >= 0).sort("passage_id")


def coverage(world: str, days: int, clicks: int, passages: int, seed: int = 1) -> tuple:
    """Which share of passages has an interval that holds what it attracts: the mart's, and the
    exact one of a Poisson count."""
    clicked, shown, attracts = draw(np.random.default_rng(seed), world, passages, days, clicks)
    found = intervals(clicked, shown)
    held = (found["coec_low"].to_numpy() <= attracts) & (attracts <= found["coec_high"].to_numpy())
    n, expected = clicked.sum(axis=1), 0.01 * shown.sum(axis=1)
    low, high = chi2.ppf(0.025, 2 * n) / 2 / expected, chi2.ppf(0.975, 2 * n + 2) / 2 / expected
    poisson = (np.nan_to_num(low) <= attracts) & (attracts <= high)
    return float(held.mean()), float(poisson.mean())


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--passages", type=int, default=4000)
    passages = parser.parse_known_args()[0].passages
    table = Table(title=f"Of {passages:,} passages, whose interval holds: over days; Poisson's")
    for head in ("days differ", "clicks", *(f"{days} days" for days in DAYS)):
        table.add_column(head, justify="right")
    for world in WORLDS:
        for clicks in CLICKS:
            held = (coverage(world, days, clicks, passages) for days in DAYS)
            table.add_row(world, str(clicks), *(f"{ours:.0%}; {other:.0%}" for ours, other in held))
    console.print(table)


if __name__ == "__main__":
    main()
