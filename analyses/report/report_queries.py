"""The report's questions: one SQL file each, asked by name, and some of the query book."""

from pathlib import Path
from typing import Any

import numpy as np

from gradelake.sql.ask import book
from gradelake.sql.lake.connection import execute
from gradelake.sql.lake.opening import Lake

QUERIES = Path(__file__).parent / "queries"


def ask(lake: Lake, name: str, **values: Any) -> list[dict[str, Any]]:
    """The rows of queries/NAME.sql, each a dict by column."""
    return lake.objects((QUERIES / f"{name}.sql").read_text(encoding="utf-8"), **values)


def columns_of(lake: Lake, name: str, **values: Any) -> dict[str, np.ndarray]:
    """The columns of queries/NAME.sql, masked where they are null, for very many rows."""
    query = (QUERIES / f"{name}.sql").read_text(encoding="utf-8")
    return execute(lake.connection, query, values).fetchnumpy()


def ask_by(lake: Lake, name: str, *keys: str, **values: Any) -> dict[Any, Any]:
    """The rows of queries/NAME.sql by these columns: key -> key -> ... -> what else is in the row,
    which is a dict, or the value where it is one column."""
    found: dict[Any, Any] = {}
    for row in ask(lake, name, **values):
        *outer, last = (row.pop(key) for key in keys)
        within = found
        for key in outer:
            within = within.setdefault(key, {})
        within[last] = row if len(row) > 1 else next(iter(row.values()))
    return found


def in_batches(names: list[str], size: int) -> list[list[str]]:
    """Lists of so many each: what is read of all at once may be more than memory holds."""
    return [names[at : at + size] for at in range(0, len(names), size)]


def ask_book(lake: Lake, name: str, **given: Any) -> list[dict[str, Any]]:
    """What `gradelake sql @NAME` answers when told these parameters. Raises `BadInput` for a value
    that names nothing in the lake."""
    lake.connection.execute("use lake.marts")
    statement, values = book.asked(lake, name, {key: str(value) for key, value in given.items()})
    return lake.objects(statement, **values)
