"""A table as lines of text that fit a terminal, and texts without what steers one."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from rich.cells import cell_len, set_cell_size

CUT = "…"
_GAP = 2  # spaces between columns
# what a shortened column keeps: cells for prose, for a name or id, for a header, and for one when
# room is scarce
_PROSE, _NAME, _HEAD, _TIGHT_HEAD = 24, 12, 16, 8
_LISTED = 6  # columns that a note names
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
    shortened, the longest first, numbers never. Where little would be left of the texts, columns
    with one value in all rows go below the table, ids go that stand beside their text, and at
    last columns from the middle.
    """
    headers = [one_line(column) for column in columns]
    every = range(len(columns))
    decimals = [_decimals(row[i] for row in rows) for i in every]
    cells = [
        [one_line(cell(value, places)) for value, places in zip(row, decimals, strict=True)]
        for row in rows
    ]
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in every]
    content = [max((cell_len(row[i]) for row in cells), default=0) for i in every]
    heads = [cell_len(header) for header in headers]
    widths, kept, notes = [*map(max, content, heads)], list(every), []
    if width is not None:
        prose = [any(" " in row[i] for row in cells) for i in every]
        texts = [_PROSE if is_prose else _NAME for is_prose in prose]
        easy = [
            max(n if number else min(n, text), min(head, _HEAD))
            for n, number, text, head in zip(content, right, texts, heads, strict=True)
        ]
        tight = [
            max(n if number else min(n, _NAME), min(head, _TIGHT_HEAD))
            for n, number, head in zip(content, right, heads, strict=True)
        ]
        kept, least, notes = _with_room(headers, cells, easy, tight, width)
        widths = _fitted(widths, least, kept, width - (_GAP + 1 if None in kept else 0))

    def line(texts: Sequence[str]) -> str:
        parts = [CUT if i is None else _aligned(texts[i], widths[i], right[i]) for i in kept]
        text = (" " * _GAP).join(parts).rstrip()
        # a single number may be wider than the terminal all the same
        return text if width is None else shortened(text, width)

    return [line(headers), *map(line, cells)], notes


def shortened(text: str, width: int) -> str:
    """A text in at most `width` cells: prose loses its end, a name or id its middle."""
    if cell_len(text) <= width:
        return text
    if width < 4 or " " in text:
        return set_cell_size(text, max(width - 1, 0)).rstrip() + CUT
    tail = (width - 1) // 2
    end, n = len(text), 0
    while n + cell_len(text[end - 1]) <= tail:
        end -= 1
        n += cell_len(text[end])
    return set_cell_size(text, width - 1 - tail) + CUT + text[end:]


def cell(value: Any, decimals: int) -> str:
    """One value as people read it; null is empty."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{decimals}f}" if _is_plain(value) else f"{value:.10g}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _with_room(
    headers: Sequence[str],
    cells: Sequence[Sequence[str]],
    easy: Sequence[int],
    tight: Sequence[int],
    width: int,
) -> tuple[list[int | None], Sequence[int], list[str]]:
    """Which columns to show (None: `…` in place of some), their least widths, and notes."""
    kept: list[int | None] = list(range(len(headers)))
    if _total(easy, kept) <= width:
        return kept, easy, []
    notes = []
    same = [i for i in kept if len(cells) > 1 and len({row[i] for row in cells}) == 1]
    if same and len(same) < len(kept):
        kept = [i for i in kept if i not in same]
        shown = ", ".join(f"{headers[i]} {cells[0][i] or '(null)'}" for i in same)
        notes.append(f"the same in every row: {shown}")
    if _total(easy, kept) <= width:
        return kept, easy, notes
    # query_id where there is query, item_id where there is item_text
    beside = {headers[i].removesuffix("_text") + "_id" for i in kept}
    left_out = [i for i in kept if headers[i] in beside]
    kept = [i for i in kept if i not in left_out]
    if _total(easy, kept) > width:
        if _total(tight, kept) > width:
            shown = _from_both_ends(tight, kept, width - _GAP - 1)
            left_out += [i for i in kept if i not in shown]
            half = (len(shown) + 1) // 2
            kept = [*shown[:half], None, *shown[half:]]
        easy = tight
    if left_out:
        names = [headers[i] for i in sorted(left_out)]
        listed = ", ".join(names[:_LISTED])
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        notes.append(f"no room for {listed}{more}")
    return kept, easy, notes


def _total(widths: Sequence[int], kept: Sequence[int | None]) -> int:
    return sum(widths[i] for i in kept) + _GAP * (len(kept) - 1)


def _from_both_ends(least: Sequence[int], columns: Sequence[int], room: int) -> list[int]:
    """As many columns as fit, one at least, taken from the left and the right in turn."""
    shown: list[int] = []
    for n in range(len(columns)):
        column = columns[n // 2] if n % 2 == 0 else columns[-1 - n // 2]
        if shown and _total(least, [*shown, column]) > room:
            break
        shown.append(column)
    return sorted(shown)


def _fitted(
    natural: Sequence[int], least: Sequence[int], kept: Sequence[int | None], width: int
) -> list[int]:
    """Widths with one limit for all columns, the highest with which those shown fit."""
    shown = [i for i in kept if i is not None]

    def limited(limit: int) -> list[int]:
        return [max(m, min(n, limit)) for n, m in zip(natural, least, strict=True)]

    low, high = 0, max((natural[i] for i in shown), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if _total(limited(middle), shown) <= width:
            low = middle
        else:
            high = middle - 1
    return limited(low)


def _aligned(text: str, width: int, right: bool) -> str:
    text = shortened(text, width)
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
