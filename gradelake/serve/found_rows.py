"""Rows that a statement found, as a page, CSV and JSON have them."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Number
from typing import Any
from urllib.parse import quote, urlencode

import duckdb

from gradelake.serve.pages import at
from gradelake.sql.ask import question
from gradelake.sql.common import console
from gradelake.sql.common.spreadsheet import shown_row
from gradelake.sql.shown.rows import table_of

TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
_SHOWN = 1_000  # rows on a page
_LETTERS = 2_000  # of a cell on a page
_BATCH = 500  # rows that are in memory at once
# a column of ids, and where their pages are
_PAGES = {"system": "systems", "query_id": "queries", "passage_id": "passages", "item_id": "items"}


def first(found: duckdb.DuckDBPyRelation) -> tuple[list[list], bool]:
    """What a page shows, and whether there is more. Raises `BadInput` with DuckDB's own words."""
    rows: list[list] = []
    for batch in _batches(found.limit(_SHOWN + 1)):
        rows += [[_shown(value) for value in row] for row in batch]
    return rows[:_SHOWN], len(rows) > _SHOWN


def linked(
    columns: list[str],
    rows: list[list],
    release: str | None,
    looks: Mapping[str, str] | None = None,
) -> list[list[tuple]]:
    """Each value of a page's rows, its text, and the address of what it names, where a row says in
    which collection; in a release (None: the newest). `looks`: of a question, as `BookEntry` has
    them."""
    return [
        [
            (value, text, _address(column, value, dict(zip(columns, row, strict=True)), release))
            for column, value, text in zip(columns, row, texts, strict=True)
        ]
        for row, texts in zip(rows, table_of(columns, rows, looks).texts(), strict=True)
    ]


def _address(column: str, value: Any, row: dict[str, Any], release: str | None) -> str | None:
    if column not in _PAGES or not value or not row.get("collection"):
        return None
    asked = {"release": release} if release else {}
    if column in ("passage_id", "item_id") and row.get("query_id"):
        asked["query"] = row["query_id"]
    there = f"{at(str(row['collection']))}/{_PAGES[column]}/{quote(str(value), safe='')}"
    return f"{there}?{urlencode(asked)}" if asked else there


def pieces(found: duckdb.DuckDBPyRelation, format_: str) -> Iterator[str]:
    """The rows as `gradelake sql` prints them as CSV and JSON; the first piece has the first
    rows."""
    is_csv, columns = format_ == "csv", found.columns
    head, between, tail = (_csv([columns]), "", "") if is_csv else ("[", ", ", "]")
    before = head
    for rows in _batches(found):
        yield before + (_csv(rows) if is_csv else _json(columns, rows))
        before = between
    yield (head if before == head else "") + tail


def _batches(found: duckdb.DuckDBPyRelation) -> Iterator[list[tuple]]:
    while rows := question.in_words(lambda: found.fetchmany(_BATCH)):
        yield rows


def _shown(value: Any) -> Any:
    """A value as a page has it: a long one is cut, and says how long it is."""
    if value is None or isinstance(value, Number):
        return value
    text = str(value)
    if len(text) <= _LETTERS:
        return text
    return f"{text[:_LETTERS]} … ({len(text):,} letters; a file has all)"


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(console.UnixLines(text), lineterminator="\r\n").writerows(map(shown_row, rows))
    return text.getvalue()


def _json(columns: list[str], rows: list[tuple]) -> str:
    records = console.plain([dict(zip(columns, row, strict=True)) for row in rows])
    return json.dumps(records)[1:-1]
