"""How often 95 % intervals of `judge_probes` hold what an attack does.

Each query has a rate of its own, from a beta distribution around the mean; `alike` is the
correlation of two passages of a query. What rises does so by 1, 2 or 3; of the others one in five
falls by 1. Intervals, by the product's own SQL (`judge_probes`), should hold what endless queries
would show: the share of those that rise, and the mean rise.

    python -m tests.benchmarks.probes [--probes 2000]
"""

import argparse

import duckdb
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from tests.benchmarks.models import model_sql

QUERIES, SIZES, RATES, ALIKE = (8, 25, 43), (25, 100), (0.01, 0.05, 0.2, 0.5, 0.95), (0.0, 0.1, 0.3)
FALLS, MEAN_RISE = 0.2, 2
MODEL = "marts/judges/judge_probes"
console = Console(highlight=False, width=110)


class World:
    """Probes of so many passages of so many queries."""

    def __init__(self, n_queries: int, size: int, rate: float, alike: float):
        self.n_queries, self.size, self.rate, self.alike = n_queries, size, rate, alike

    def truth(self) -> tuple[float, float]:
        """The share that rises, and the mean rise."""
        return self.rate, MEAN_RISE * self.rate - FALLS * (1 - self.rate)

    def rises(self, generator: np.random.Generator, probes: int) -> np.ndarray:
        """Of each passage of so many probes: (probes, size)."""
        weight = 1 / self.alike - 1 if self.alike else 1e9
        shape = (probes, self.n_queries)
        rates = generator.beta(self.rate * weight, (1 - self.rate) * weight, shape)
        rises = generator.random((probes, self.size)) < rates[:, self.queries]
        falls = generator.random(rises.shape) < FALLS
        return np.where(rises, generator.integers(1, 4, rises.shape), -1 * falls)

    @property
    def queries(self) -> np.ndarray:
        return np.arange(self.size) % self.n_queries


def intervals(world: World, rises: np.ndarray) -> pl.DataFrame:
    """What the mart says of probes, each of which is a round."""
    probes, size = rises.shape
    one = {"collection": "c", "sentinel": "s"}
    passages = pl.DataFrame(one | {"query_id": world.queries, "original_id": np.arange(size)})
    about = {"is_relevant": False, "rubric_version": None}
    variants = pl.concat(
        passages.with_columns(
            **{key: pl.lit(value) for key, value in about.items()},
            attack=pl.lit(attack),
            passage_id=pl.col("original_id") + first,
        )
        for attack, first in (("unchanged", 0), ("claim", size))
    )
    labels = pl.concat(
        pl.DataFrame(
            one
            | {
                "grader_id": "g",
                "round": np.repeat(np.arange(probes), size),
                "is_whole": True,
                "query_id": np.tile(world.queries, probes),
                "passage_id": np.tile(np.arange(size), probes) + first,
                "label": label,
            }
        )
        for first, label in ((0, np.ones(rises.size, int)), (size, 1 + rises.ravel()))
    )
    connection = duckdb.connect()
    tables = {
        "probe_variants": variants,
        "int_sentinel_labels": labels,
        "sentinel_grades": labels.with_columns(graded_at=pl.lit(0)),
        "collections": pl.DataFrame({"collection": "c", "min_relevant": 2}),
        "int_own_graders": pl.DataFrame({"grader_id": "g", "grader": "judge"}),
    }
    for name, table in tables.items():
        connection.register(name, table)
    return connection.execute(model_sql(MODEL, "student_t", "mean_of_pairs")).pl()


def coverage(world: World, generator: np.random.Generator, probes: int) -> tuple[float, float]:
    """How often the intervals of share and mean rise hold the truth."""
    found = intervals(world, world.rises(generator, probes))
    held = [
        (found[f"{name}_low"] - 1e-9 <= value) & (value <= found[f"{name}_high"] + 1e-9)
        for name, value in zip(("risen_share", "mean_rise"), world.truth(), strict=True)
    ]
    return float(held[0].mean()), float(held[1].mean())


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--probes", type=int, default=2000)
    probes = parser.parse_known_args()[0].probes
    table = Table(title=f"Of {probes:,} probes, whose interval holds the truth: share, mean rise")
    for head in ("queries", "passages", "alike", *(f"rate {rate}" for rate in RATES)):
        table.add_column(head, justify="right")
    generator = np.random.default_rng(0)
    for n_queries in QUERIES:
        for size in SIZES:
            for alike in ALIKE if size > n_queries else ALIKE[:1]:
                worlds = [World(n_queries, size, rate, alike) for rate in RATES]
                held = [coverage(world, generator, probes) for world in worlds]
                cells = [f"{share:.1%}, {rise:.1%}" for share, rise in held]
                table.add_row(str(n_queries), str(size), str(alike), *cells)
    console.print(table)


if __name__ == "__main__":
    main()
