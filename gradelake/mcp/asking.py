"""What a call of a model reads, in a process of its own, which imports nothing of `mcp`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import duckdb

from gradelake.sql.ask import book, question
from gradelake.sql.ask.limited import release
from gradelake.sql.common import console
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.lake.connection import quote
from gradelake.sql.lake.opening import Lake

_LETTERS = 200_000  # of all rows of an answer
_LONGEST = 20_000  # letters of a value
_BATCH = 500  # rows that are in memory at once
_VALUES = 100  # of what a parameter may be
_NAMES = "select if(schema_name = 'marts', '', schema_name || '.') || table_name from tables"
_TABLES = """
select schema_name, table_name, description from tables
order by list_position(['marts', 'raw'], schema_name) nulls last, table_name"""
_COLUMNS = """
select column_name, data_type, description from columns
where schema_name = {} and table_name = {}
order by position"""


@dataclass
class FirstRows:
    """The first rows of an answer, how many there are, and what to keep in mind of them.

    `is_ours`: no text in it comes out of the lake. `looks`: of a question, as `BookEntry` has them.
    """

    columns: list[str]
    rows: list[list[Any]]
    n_rows: int
    release: str | None = None
    values: dict[str, str | None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    is_ours: bool = False
    looks: Mapping[str, str] | None = None


def first_rows(found: duckdb.DuckDBPyRelation, most: int) -> tuple[list[list[Any]], int]:
    """The first rows of a result as JSON has them, and how many it has."""
    rows: list[list[Any]] = []
    n_rows = size = 0
    while batch := question.in_words(lambda: found.fetchmany(_BATCH)):
        for row in batch[: most - len(rows)] if len(rows) == n_rows else []:
            kept = [_cut(value) for value in row]
            size += sum(len(str(value)) for value in kept)
            if rows and size > _LETTERS:
                break
            rows.append(kept)
        n_rows += len(batch)
    return console.plain(rows), n_rows


def _cut(value: Any) -> Any:
    """A value, or the beginning of one that is too long, which says how long it is."""
    if value is None or isinstance(value, Number):
        return value
    text = str(value)
    return f"{text[:_LONGEST]} … ({len(text):,} letters)" if len(text) > _LONGEST else value


def _of(lake: Lake, statement: str, most: int, values: question.Values = None) -> FirstRows:
    found = question.rows(lake, statement, values)
    return FirstRows(found.columns, *first_rows(found, most), lake.release)


def selected(project: Project, named: str | None, query: str, most: int) -> FirstRows:
    """The rows of a query."""
    with release(project, named) as lake:
        return _of(lake, question.one_statement(query), most)


def answer(
    project: Project, named: str | None, name: str, given: dict[str, str], most: int
) -> FirstRows:
    """The rows of a question, and its values."""
    entry = book.entry(name)
    with release(project, named) as newest, question.lake_of(newest, entry, bool(named)) as lake:
        statement, values = book.asked(lake, name, given)
        found = _of(lake, statement, most, values)
        found.values, found.looks = values, entry.looks
        found.notes = [entry.note] if entry.note else []
        found.notes += [] if found.rows else question.why_empty(lake, statement, values)
        return found


def parameters(project: Project, named: str | None, name: str, collection: str | None) -> FirstRows:
    """The parameters of a question, with the values that there are."""
    with release(project, named) as lake:
        if collection:
            lake.require_collection(collection)
        rows: list[list[Any]] = []
        for parameter, (default, means) in book.entry(name).parameters.items():
            values = sorted(book.known(lake, parameter, collection) or ())
            more = [f"and {len(values) - _VALUES:,} more"] if len(values) > _VALUES else []
            rows.append([parameter, default, means, values[:_VALUES] + more])
        columns = ["parameter", "default", "means", "values"]
        return FirstRows(columns, rows, len(rows), lake.release)


def described(project: Project, named: str | None, table: str) -> FirstRows:
    """The columns of a table, or the tables where none is named, and by which query."""
    with release(project, named) as lake:
        query = _TABLES
        if table:
            known = lake.column(_NAMES)
            schema, _, name = table.rpartition(".")
            require_known(table.removeprefix("marts."), known, f"the lake has no table {table!r}")
            query = _COLUMNS.format(quote(schema or "marts"), quote(name))
        found = _of(lake, query, 1000)
        found.values, found.is_ours = {"query": query.strip()}, True
        return found
