"""Rows that SQL found, as a table: each figure looks as the kind of its column."""

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

from gradelake.sql.common.table_text import ColumnTexts
from gradelake.sql.shown.answer import EMPTY, Cell, Column, Table
from gradelake.sql.shown.kinds import kind_of


def table_of(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    looks: Mapping[str, str] | None = None,
    name: str = "rows",
) -> Table:
    """A table of these rows. `looks`: column -> kind, where its name does not say it (`kind_of`);
    None: nobody knows what they are, and numbers get the decimals that their column needs. Null is
    empty: a row need not have everything."""
    values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    found = [_column(*each, looks) for each in zip(columns, values, strict=True)]
    cells = [each for _, each in found]
    return Table(name, [column for column, _ in found], list(zip(*cells, strict=True)))


def _column(
    name: str, values: Sequence[Any], looks: Mapping[str, str] | None
) -> tuple[Column, Sequence[Any]]:
    """A column and its cells."""
    known = [value for value in values if value is not None]
    kind = None
    if looks is not None and known and all(isinstance(value, Number) for value in known):
        are_flags = all(isinstance(value, bool) for value in known)
        kind = looks.get(name) or ("flag" if are_flags else kind_of(name))
    if kind:
        return Column(name, name, kind), [EMPTY if value is None else value for value in values]
    as_they_are = ColumnTexts.of_values(name, values)
    if not as_they_are.is_number:
        return Column(name, name, "id" if as_they_are.is_id else "text"), values
    texts = zip(values, as_they_are.texts, strict=True)
    return Column(name, name, "number"), [Cell(value, shown=text) for value, text in texts]
