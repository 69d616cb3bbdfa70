"""Numbers with a decimal point or a decimal comma: which it is, a whole column says.

`0,75` is three quarters where no cell of its column speaks against it, and one cell at least can be
nothing else; `1,234` alone may be 1.234 or 1234, and is refused.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.sql.common.noting import note
from gradelake.sql.common.problems import Problems

Row = tuple[int, dict[str, Any]]

_ONE_WAY = "write all numbers of a column one way"
_POWER = r"(?:[eE][+-]?\d+)?"
_POINT = re.compile(rf"[+-]?(?:\d+|\d{{1,3}}(?:,\d{{3}})+)?(?:\.\d*)?{_POWER}")
_COMMA = re.compile(rf"[+-]?(?:\d+|\d{{1,3}}(?:\.\d{{3}})+)?(?:,\d*)?{_POWER}")


def decimal_mark(cells: Iterable[str]) -> str:
    """What stands before the fractions of a column: `.` or `,`. Cells that are no numbers say
    nothing.

    Raises `ValueError` where both are possible and make a difference, and where cells disagree.
    """
    with_comma = only_comma = only_point = ""  # a cell of each kind
    for cell in cells:
        text = cell.strip()
        by_point, by_comma = _POINT.fullmatch(text), _COMMA.fullmatch(text)
        if by_comma and not by_point:
            only_comma = only_comma or text
        elif by_point and not by_comma:
            only_point = only_point or text
        elif by_comma and "," in text:
            with_comma = with_comma or text
    if only_comma and only_point:
        raise ValueError(
            f"{only_comma!r} has a decimal comma and {only_point!r} a decimal point; {_ONE_WAY}"
        )
    if with_comma and not only_comma and not only_point:
        decimal, thousands = with_comma.replace(",", "."), with_comma.replace(",", "")
        raise ValueError(
            f"{with_comma!r} may be {decimal} or {thousands}, and no other cell of its column says "
            "which; write it so"
        )
    return "," if only_comma else "."


def with_points(rows: Iterable[Row], roles: Collection[str], problems: Problems) -> Iterator[Row]:
    """Rows, by roles, whose numbers have decimal points. From the first comma on they are held
    until all have been seen; columns that do not say what their commas are become problems."""
    rows = iter(rows)
    points: dict[str, str] = {}  # a cell with a point, of the rows that went by
    for line, row in rows:
        if any("," in _text(row, role) for role in roles):
            held = [(line, row), *rows]
            break
        for role in roles:
            if role not in points and "." in _text(row, role):
                points[role] = _text(row, role)
        yield line, row
    else:
        return
    for role in roles:
        commas = (line for line, row in held if "," in _text(row, role))
        if first := next(commas, None):
            try:
                if _settle(held, role, points.get(role, "")) == ",":
                    note(f"{problems.file}: commas of {role} are decimal")
            except ValueError as error:
                problems.add(first, f"{role} {error}")
                return
    yield from held


def _settle(rows: Sequence[Row], role: str, point: str) -> str:
    """Write a role's numbers with decimal points. `point`: a cell with one, further up. Returns
    what was decimal."""
    cells = [_text(row, role) for _, row in rows]
    mark = decimal_mark([point, *cells])
    if mark == "," and point:
        comma = next(cell for cell in cells if "," in cell)
        raise ValueError(f"{comma!r} has a decimal comma and {point!r} a point; {_ONE_WAY}")
    for (_, row), cell in zip(rows, cells, strict=True):
        number = number_of(cell, mark) if "," in cell or mark == "," else None
        if number is not None:
            row[role] = repr(number)
    return mark


def _text(row: dict[str, Any], role: str) -> str:
    value = row.get(role)
    return value if isinstance(value, str) else ""


def number_of(cell: str, mark: str) -> float | None:
    """The number that a cell holds, by its column's decimal mark; None for none."""
    text = cell.strip()
    if not (_COMMA if mark == "," else _POINT).fullmatch(text):
        return finite_number(text)
    other = "." if mark == "," else ","
    return finite_number(text.replace(other, "").replace(mark, "."))
