"""How often `group_bias` finds a family favoured by a judge that favours none.

A judge's errors on a query move the scores of systems, those of a family alike. By errors, which
are 0 over endless queries: normal, each system's its own; normal and shared by a family; shared and
skewed; none on three queries of five; skewed of one family alone; and P@10 of systems that rank a
pool, those of a family nearly the same passages, about some of which the judge errs. Families are
equal or not. p and Holm's are by the product's own SQL.

    python -m tests.benchmarks.biases [--boards 2000]
"""

import argparse
from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table

from tests.benchmarks.models import model_sql

QUERIES, FAMILIES = (10, 43, 100), ((5, 5, 5), (1, 4, 25))
POOL, DEPTH = 60, 10
ALONE, SHARED, SKEWED, FEW, ONE_SKEWED, RANKED = WORLDS = (
    "each its own",
    "shared",
    "shared, skewed",
    "shared, on few queries",
    "of one family skewed",
    "P@10 of a pool",
)
console = Console(highlight=False, width=110)


def residuals(
    generator: np.random.Generator, world: str, n_boards: int, n_queries: int, families: np.ndarray
) -> np.ndarray:
    """What systems gain: (boards, queries, systems), of which none gains over endless queries;
    `families`: (systems,)."""
    shape = (n_boards, n_queries)
    if world == RANKED:
        return _ranked(generator, shape, families)
    own = generator.normal(0, 1, (*shape, len(families)))
    shared = generator.normal(0, 1, (*shape, families.max() + 1))[..., families]
    if world == ALONE:
        return own / 10
    both = 0.8 * shared + 0.6 * own
    if world == SKEWED:
        return (np.exp(both) - np.exp(0.5)) / 10
    if world == FEW:
        return np.rint(both) * (generator.random((*shape, 1)) < 0.4) / 10
    if world == ONE_SKEWED:  # a skewness of 1.75
        both = np.where(families == 0, np.exp(both / 2) - np.exp(1 / 8), both / 2)
    return both / 10


def _ranked(generator: np.random.Generator, shape: tuple, families: np.ndarray) -> np.ndarray:
    found = np.empty((*shape, len(families)))
    for board in range(shape[0]):  # one at a time: a pool for each query
        error = generator.choice([-1, 0, 1], p=[0.1, 0.75, 0.15], size=(shape[1], POOL))
        worth = generator.normal(0, 1, (shape[1], families.max() + 1, POOL))[:, families]
        seen = worth + generator.normal(0, 0.4, worth.shape)
        top = np.argpartition(-seen, DEPTH, axis=2)[..., :DEPTH]
        found[board] = np.take_along_axis(error[:, None], top, axis=2).mean(axis=2)
    return found


def tested(of: np.ndarray, families: np.ndarray) -> pl.DataFrame:
    """What the mart says of boards: (boards, queries, systems)."""
    boards, queries, systems = (axis.ravel() for axis in np.indices(of.shape))
    board = {"collection": "c", "assessor": "a", "level": 1, "measure": "AP"}
    cells = {"label_set": boards, "query_id": queries, "system": systems, "residual": of.ravel()}
    groups = {"system": np.arange(len(families)), "group_name": families}
    weights = {"collection": pl.String, "query_id": pl.String, "cluster": pl.String}
    with duckdb.connect() as connection:
        residual = pl.DataFrame(board | cells).with_columns(pl.col("query_id").cast(pl.String))
        connection.register("int_residuals", residual)
        connection.register(
            "int_system_groups", pl.DataFrame({"collection": "c", "grouping": "family"} | groups)
        )
        connection.register("int_query_weights", pl.DataFrame(schema=weights))
        return (
            connection.execute(model_sql("marts/judges/group_bias", "student_t"))
            .pl()
            .sort("label_set", "group_name")
        )


def found_favoured(
    world: str, sizes: Sequence[int], n_queries: int, n_boards: int, seed: int = 1
) -> tuple[np.ndarray, float]:
    """Shares of boards: with p <= 0.05 for each family, and with Holm's for any."""
    families = np.repeat(np.arange(len(sizes)), sizes)
    generator = np.random.default_rng(seed)
    found = tested(residuals(generator, world, n_boards, n_queries, families), families)
    p, holm = (
        found[name].fill_null(1).to_numpy().reshape(n_boards, -1) <= 0.05
        for name in ("p", "p_holm")
    )
    return p.mean(axis=0), float(holm.any(axis=1).mean())


def main() -> None:
    """Simulate, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--boards", type=int, default=2000)
    n_boards = parser.parse_known_args()[0].boards
    title = f"% of {n_boards:,} boards with p <= .05: the families'; Holm's of any"
    table = Table("errors", "families", *(f"{n} queries" for n in QUERIES), title=title)
    for world in WORLDS:
        for sizes in FAMILIES:
            cells = []
            for n in QUERIES:
                p, holm = found_favoured(world, sizes, n, n_boards)
                cells.append(" ".join(f"{100 * share:.1f}" for share in p) + f"; {100 * holm:.1f}")
            table.add_row(world, ", ".join(map(str, sizes)), *cells)
    console.print(table)


if __name__ == "__main__":
    main()
