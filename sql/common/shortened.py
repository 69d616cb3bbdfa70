"""Texts and names in fewer cells of a terminal; names that differ still differ."""

from bisect import bisect_left
from collections.abc import Collection

from rich.cells import cell_len, set_cell_size

CUT = "…"


def shortened(text: str, width: int = 40, tail: int | None = None) -> str:
    """A text in at most `width` cells: prose loses its end, a name or id its middle, so that its
    last `tail` cells stay (half of them unless `telling_tail` says otherwise)."""
    if (len(text) if text.isascii() else cell_len(text)) <= width:
        return text
    if width < 4 or " " in text:
        return set_cell_size(text, max(width - 1, 0)).rstrip() + CUT
    tail = _half(width) if tail is None else tail
    if text.isascii():  # a cell each
        return text[: width - 1 - tail] + CUT + text[len(text) - tail :]
    end, n = len(text), 0
    while end and n + cell_len(text[end - 1]) <= tail:
        end -= 1
        n += cell_len(text[end])
    return set_cell_size(text, width - 1 - tail) + CUT + text[end:]


def telling_tail(names: Collection[str], width: int) -> int | None:
    """The `tail` with which different names stay different in `width` cells, nearest to half of
    them; None where they become the same however they are cut."""
    half = _half(width)
    for tail in sorted(range(max(width, 1)), key=lambda tail: abs(tail - half)):
        if _differ(names, width, tail):
            return tail
    return None


def telling_width(names: Collection[str], least: int) -> int:
    """The fewest cells, `least` or more, in which different names stay different."""
    widths = range(least, max(least, *map(cell_len, names), 0))
    # what tells names apart in a width does so in a greater one
    n_fewer = bisect_left(widths, True, key=lambda width: telling_tail(names, width) is not None)
    return least + n_fewer


def apart(names: Collection[str], length: int = 24) -> dict[str, str]:
    """Each name in `length` cells, or as many more as tell it from every other."""
    names = dict.fromkeys(names)
    width = telling_width(names, length)
    tail = telling_tail(names, width)
    return {name: shortened(name, width, tail) for name in names}


def _differ(names: Collection[str], width: int, tail: int) -> bool:
    seen: set[str] = set()
    for name in names:
        short = shortened(name, width, tail)
        if short in seen:
            return False
        seen.add(short)
    return True


def _half(width: int) -> int:
    return (width - 1) // 2
