"""What each row of a raw table must be.

Contracts are imported when the first is asked for: polars takes a while, and who finds nothing new
checks nothing.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from gradelake.sql.lake.contracts import Contract


@cache
def contract(table: str) -> "Contract":
    """What each row of a raw table must be."""
    from gradelake.sql.lake.contracts import Contract

    return Contract(table)


def types_of(table: str, *columns: str) -> "dict[str, pl.DataType]":
    """These columns of a raw table, or all, with their types, for a frame of its rows."""
    types = contract(table).types
    return {column: types[column] for column in columns or types}


def frame_of(table: str, columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> "pl.DataFrame":
    """Rows of a raw table, each the values of these columns of it."""
    import polars as pl

    return pl.DataFrame([*rows], schema=types_of(table, *columns), orient="row")
