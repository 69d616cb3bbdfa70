"""A table as lines of text that fit a terminal, and texts without what steers one."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from rich.cells import cell_len

from gradelake.sql.common.shortened import shortened, telling_tail
from gradelake.sql.common.table_room import GAP, Room, needed

_FEW = 2  # rows that are read one by one
# an item's id: its query, and the hash of its text
_HASHED = re.compile(r".*/([0-9a-f]{8})[0-9a-f]{24}")  # query_id/md5
# names of files and passages may hold what steers a terminal; backslash escapes show it instead
_CONTROLS = {n: f"\\x{n:02x}" for n in (*range(9), *range(11, 32), *range(127, 160))}
_BREAKS = re.compile(r"\r\n|[\r\n\t]")


def printable(text: str) -> str:
    """A text without what steers a terminal, and without the half characters that stand for bytes
    of a file name that is not UTF-8. Line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_CONTROLS).encode(errors="backslashreplace").decode()


def one_line(text: str) -> str:
    """A printable text with spaces for line breaks and tabs: what a cell can hold."""
    return printable(_BREAKS.sub(" ", text))


def table_lines(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None = None
) -> tuple[list[str], list[str]]:
    """The header and a line per row; and notes below the table on what it had no room for.

    Without a `width` (cells of a terminal) nothing is cut. With one no line is longer: texts are
    shortened, the longest first, numbers never, and different names (which have no spaces) never to
    the same text. Where little would be left of the texts, ids lose all but the beginning of their
    hash, and columns go (see `gradelake.sql.common.table_room`).
    """
    headers, cells, right = _texts(columns, rows)
    kept: Sequence[int] = range(len(headers))
    notes: list[str] = []
    tails: dict[int, int | None] = {}
    if width is not None:
        cut: list[int] = []
        room = Room(headers, cells, right, width)
        if not room.fits:
            cells, cut = _with_short_hashes(cells)
            room = Room(headers, cells, right, width)
        room.make()
        kept, notes = room.kept, room.notes()
        if of := [headers[i] for i in cut if i in kept or headers[i] in " ".join(notes)]:
            notes.append(f"of {', '.join(of)}: how the hash begins")
    widths = [max(map(cell_len, column)) for column in zip(headers, *cells, strict=True)]
    if width is not None:
        widths = _fitted(widths, room.least, kept, width)
        tails = {
            i: telling_tail(room.names(i), widths[i]) for i in kept if widths[i] < room.content[i]
        }

    def line(texts: Sequence[str], is_header: bool = False) -> str:
        parts = [
            _aligned(texts[i], widths[i], right[i], None if is_header else tails.get(i))
            for i in kept
        ]
        text = (" " * GAP).join(parts).rstrip()
        # a single number may still be wider than the terminal
        return text if width is None else shortened(text, width)

    return [line(headers, is_header=True), *map(line, cells)], notes


def reads_better_as_lines(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int | None
) -> bool:
    """Whether a row or two would lose columns for want of room: a line per column loses none."""
    if width is None or not 0 < len(rows) <= _FEW:
        return False
    return not Room(*_texts(columns, rows), width).fits


def _texts(
    columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Headers and cells as they are printed, and which columns hold numbers."""
    every = range(len(columns))
    decimals = [_decimals(row[i] for row in rows) for i in every]
    cells = [
        [one_line(cell(value, places)) for value, places in zip(row, decimals, strict=True)]
        for row in rows
    ]
    numbers = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in every]
    return [one_line(column) for column in columns], cells, numbers


def _with_short_hashes(cells: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[int]]:
    """Ids whose hash is cut to its beginning, where that tells them apart; and which columns."""
    columns, cut = [list(column) for column in zip(*cells, strict=True)], []
    for i, column in enumerate(columns):
        hashes = [_HASHED.fullmatch(text) for text in column]
        short = [found[1] for found in hashes if found]
        if len(short) == len(column) and len(set(short)) == len(set(column)):
            columns[i] = short
            cut.append(i)
    return [list(row) for row in zip(*columns, strict=True)], cut


def cell(value: Any, decimals: int) -> str:
    """One value as people read it; null is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{decimals}f}" if _is_plain(value) else f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _fitted(
    natural: Sequence[int], least: Sequence[int], kept: Sequence[int], width: int
) -> list[int]:
    """Widths with one limit for all columns, the highest with which those kept fit."""

    def limited(limit: int) -> list[int]:
        return [max(m, min(n, limit)) for n, m in zip(natural, least, strict=True)]

    low, high = 0, max((natural[i] for i in kept), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if needed(limited(middle), kept) <= width:
            low = middle
        else:
            high = middle - 1
    return limited(low)


def _aligned(text: str, width: int, right: bool, tail: int | None) -> str:
    text = shortened(text, width, tail)
    padding = " " * (width - cell_len(text))
    return padding + text if right else text + padding


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | None)


def _decimals(values: Iterable[Any]) -> int:
    """How many decimals a column's numbers need: the same for each, so that they align."""
    fractions = (f"{v:.10f}".rstrip("0").split(".")[1] for v in values if _is_plain(v))
    return max(map(len, fractions), default=0)


def _is_plain(value: Any) -> bool:
    """A float that reads well without an exponent."""
    return isinstance(value, float) and (value == 0 or 1e-9 < abs(value) < 1e15)
