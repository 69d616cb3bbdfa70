"""The report's questions: one SQL file each, asked by name."""

from functools import cache
from importlib.resources import files
from typing import Any

from gradelake.sql.lake.lake import Lake


@cache
def _text(name: str) -> str:
    return (files("gradelake.analyses.report") / "queries" / f"{name}.sql").read_text(
        encoding="utf-8"
    )


def ask(lake: Lake, name: str, **values: Any) -> list[dict[str, Any]]:
    """The rows of queries/NAME.sql, each a dict by column."""
    result = lake.connection.execute(_text(name), values)
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
