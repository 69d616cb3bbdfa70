"""Where the header of a sheet is: people put titles, notes and `sep=;` above it."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from gradelake.ingest.reading.csv_tables import finite_number, first_cells

LOOKED_AT = 20  # rows
_BYTES = 1 << 18  # of a file, in which these are
_SEPARATOR = re.compile(r"\ufeff?sep=(.)\s*", re.IGNORECASE)  # what Excel writes on a first line


class CsvHead(NamedTuple):
    """What separates the cells of a CSV, and how many rows that are not blank stand above its
    header."""

    mark: str
    above: int


def head_of(data: bytes, marks: str) -> CsvHead:
    """The head of a CSV, whose cells one of these marks separates.

    That is the mark by which the first row is a header, or by which one is that others stand above;
    else that by which the first line has most cells.
    """
    text = data[:_BYTES].decode(errors="ignore")
    if stated := _SEPARATOR.fullmatch(text.split("\n", 1)[0]):
        rows = _first_rows(text, stated[1])
        return CsvHead(stated[1], 1 + header_at(rows[1:]))
    best = (0, 0, CsvHead(marks[0], 0))
    for mark in marks:
        rows = _first_rows(text, mark)
        above = header_at(rows)
        header = rows[above] if rows else first_cells(data, mark)
        fits = len(header) > 1 and bool(rows) and _is_header(rows, above)
        sure = (1 if above else 2) if fits else 0
        best = max(best, (sure, len(header), CsvHead(mark, above)), key=lambda found: found[:2])
    return best[2]


def header_at(rows: Sequence[Sequence[str]]) -> int:
    """Which of the first rows names the columns: 0 where none that looks like a header follows
    titles, comments and empty rows."""
    most_filled = max(map(_filled, rows), default=0)
    usual = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    for at, row in enumerate(rows):
        is_sparse = _filled(row) * 2 <= most_filled
        if not is_sparse and _is_header(rows, at):
            return at
        begins_left = not _filled(row) or bool(row[0].strip())  # and is no header of numbered rows
        is_title = begins_left and (is_sparse or len(row) < usual)
        if not is_title and not _is_comment(row):
            return 0
    return 0


def _is_header(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Whether a row is as wide as the one below, and holds names alone, each of them once."""
    names = [cell.strip().casefold() for cell in rows[at] if cell.strip()]
    below = rows[at + 1 : at + 2] or rows[:1]
    is_as_wide = len(rows[at]) == len(below[0])
    is_once = len(names) == len(set(names))
    return is_as_wide and is_once and all(finite_number(name) is None for name in names)


def _is_comment(row: Sequence[str]) -> bool:
    return bool(row) and row[0].lstrip().startswith("#")


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _first_rows(text: str, mark: str) -> list[list[str]]:
    """The first rows that are not blank, if this separates their cells."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    try:
        return [*islice((row for row in rows if _filled(row)), LOOKED_AT)]
    except csv.Error:  # who reads all of it says so
        return []
