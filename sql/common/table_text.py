"""A table as lines of text that fit a terminal, and texts without what steers one.

rich's tables are not used for it: they take a second for each thousand rows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

from rich.cells import cell_len

from gradelake.sql.common.shortened import shortened, telling_tail, telling_width

_GAP = 2  # spaces between columns
_FEW = 2  # rows that are read one by one
# cells that a shortened column keeps: prose, names (more where different ones would become the
# same), ids, and headers
_PROSE, _NAME, _ID, _HEAD = 24, 12, 24, 12
_NUMBERS = 3  # that stay as long as a text could go instead
_LISTED = 6  # columns that a note names
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


def cell(value: Any, decimals: int) -> str:
    """One value as people read it; null is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{decimals}f}" if _is_plain(value) else f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


class ColumnTexts:
    """A column's texts, and how many cells they need; `width` is how many they get."""

    def __init__(self, header: str, texts: Iterable[str], is_number: bool, is_id: bool = False):
        self.header = one_line(header)
        self.is_number = is_number
        self.is_id = is_id
        self._set([one_line(text) for text in texts])
        self.is_figure = self.is_number and any(self.distinct)

    @classmethod
    def of_values(cls, header: str, values: Sequence[Any]) -> "ColumnTexts":
        """The texts of values whose kind nobody said: numbers get the decimals that the column
        needs."""
        decimals = _decimals(values)
        is_number = bool(values) and all(map(_is_number, values))
        return cls(
            header, [cell(value, decimals) for value in values], is_number, header.endswith("_id")
        )

    def _set(self, texts: list[str]) -> None:
        self.texts, self.distinct = texts, set(texts)
        self.content = max(map(cell_len, self.distinct), default=0)
        self.width = max(self.content, cell_len(self.header))

    @property
    def names(self) -> set[str]:
        """Its different names or ids; none where it holds numbers or prose."""
        is_prose = any(" " in text for text in self.distinct)
        return set() if self.is_number or is_prose else self.distinct

    @cached_property
    def least(self) -> int:
        """The width down to which it may be shortened: numbers never, names while they differ."""
        content = self.content
        if not self.is_number:
            kept = telling_width(self.names, _ID if self.is_id else _NAME) if self.names else _PROSE
            content = min(content, kept)
        return max(content, min(cell_len(self.header), _HEAD))

    def shorten_hashes(self) -> bool:
        """Cut ids to how their hash begins, where that tells them apart."""
        found = [_HASHED.fullmatch(text) for text in self.texts]
        short = [each[1] for each in found if each]
        if not short or len(short) < len(found) or len(set(short)) < len(self.distinct):
            return False
        self._set(short)
        del self.least
        return True

    def cells(self) -> list[str]:
        """The header and the texts, each `width` cells wide; numbers align right."""
        tail = telling_tail(self.names, self.width) if self.width < self.content else None
        texts = [shortened(self.header, self.width)]
        texts += [shortened(text, self.width, tail) for text in self.texts]
        gaps = [" " * (self.width - cell_len(text)) for text in texts]
        pairs = zip(gaps, texts, strict=True) if self.is_number else zip(texts, gaps, strict=True)
        return list(map("".join, pairs))


def table_lines(
    columns: Sequence[ColumnTexts], width: int | None = None
) -> tuple[list[str], list[str]]:
    """The header and a line per row; and notes below the table on what it had no room for.

    Without a `width` (cells of a terminal) nothing is cut. With one no line is longer: texts are
    shortened, the longest first, numbers never, and different names (which have no spaces) never to
    the same text. Where that is not enough, ids lose all but the beginning of their hash, and
    columns go.
    """
    table, notes = list(columns), []
    if width is not None:
        notes = _make_room(table, width)
        _widen(table, width)
    lines = zip(*(column.cells() for column in table), strict=True)
    texts = [(" " * _GAP).join(cells).rstrip() for cells in lines]
    # a single number may still be wider than the terminal
    return texts if width is None else [shortened(text, width) for text in texts], notes


def reads_better_as_lines(columns: list[ColumnTexts], width: int | None) -> bool:
    """Whether a row or two would lose columns for want of room: a line per column loses none."""
    n_rows = len(columns[0].texts) if columns else 0
    return width is not None and 0 < n_rows <= _FEW and not _fits(columns, width)


def text_columns(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[ColumnTexts]:
    """The columns of a table as texts, those of numbers with the same decimals throughout."""
    return [ColumnTexts.of_values(name, [row[i] for row in rows]) for i, name in enumerate(columns)]


def _needed(widths: Iterable[int]) -> int:
    """Cells of a line of columns of these widths."""
    return sum(width + _GAP for width in widths) - _GAP


def _fits(table: list[ColumnTexts], width: int) -> bool:
    if _needed(column.width for column in table) <= width:
        return True
    return _needed(column.least for column in table) <= width


def _make_room(table: list[ColumnTexts], width: int) -> list[str]:
    """Shorten ids, and take columns out, until the others fit; returns what is to be said of it."""
    hashed = [] if _fits(table, width) else [c for c in table if c.shorten_hashes()]
    before = list(table)
    if not _fits(table, width):
        # nothing is lost with what the note says once: texts that never change, empty columns
        table[:] = [c for c in table if len(c.distinct) != 1 or c.is_figure] or table[:1]
    while len(table) > 1 and not _fits(table, width):
        table.remove(_first_to_go(table))
    gone = [column for column in before if column not in table]
    same = [column for column in gone if len(column.distinct) == 1]
    names = [column.header for column in gone if column not in same]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    notes = [
        ("the same in every row", [f"{c.header} {c.texts[0] or '(null)'}" for c in same], ""),
        ("no room for", names[:_LISTED], more),
        ("cut to how the hash begins", [c.header for c in hashed if c in table or c in same], ""),
    ]
    return [f"{what}: {', '.join(listed)}{rest}" for what, listed, rest in notes if listed]


def _first_to_go(table: list[ColumnTexts]) -> ColumnTexts:
    """The column that tells least: a number that is the same in every row (those among texts, then
    from the right); a text without which the others tell as many rows apart; numbers from the
    right, but for three; the text with the fewest values. Ids go late, since the next question
    needs them, and the first number last."""
    last_text = max((n for n, column in enumerate(table) if not column.is_number), default=-1)
    same = [n for n, column in enumerate(table) if len(column.distinct) == 1]
    if same:
        return table[min(same, key=lambda n: (n > last_text, -n))]
    numbers = [column for column in table if column.is_number]
    ids = [column for column in table if column.is_id and not column.is_number]
    texts = [column for column in table if not column.is_number and not column.is_id]
    texts = sorted(texts, key=lambda column: len(column.distinct))
    idle = [text for text in texts if _n_told(table, text) == _n_told(table)]
    rest = [*texts[:-1], *numbers[:0:-1], *texts, *ids[::-1], *numbers]
    return [*idle, *numbers[: _NUMBERS - 1 : -1], *rest][0]


def _n_told(table: list[ColumnTexts], without: ColumnTexts | None = None) -> int:
    """How many rows differ in their texts."""
    texts = [column.texts for column in table if not column.is_number and column is not without]
    return len(set(zip(*texts, strict=True)))


def _widen(table: list[ColumnTexts], width: int) -> None:
    """Give the columns one limit, the highest with which they fit."""

    def limited(limit: int) -> list[int]:
        return [c.width if c.width <= limit else max(c.least, limit) for c in table]

    limits = range(max(column.width for column in table) + 1)
    n_fit = bisect_left(limits, True, lo=1, key=lambda limit: _needed(limited(limit)) > width)
    for column, cells in zip(table, limited(n_fit - 1), strict=True):
        column.width = cells


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | None)


def _decimals(values: Iterable[Any]) -> int:
    """How many decimals a column's numbers need: the same for each, so that they align."""
    fractions = (f"{v:.10f}".rstrip("0").split(".")[1] for v in values if _is_plain(v))
    return max(map(len, fractions), default=0)


def _is_plain(value: Any) -> bool:
    """Whether a float reads well without an exponent."""
    return isinstance(value, float) and (value == 0 or 1e-9 < abs(value) < 1e15)
