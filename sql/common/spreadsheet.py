"""Cells that a spreadsheet shows and does not run: texts come from outside, and may be formulas."""

import re
from collections.abc import Iterable
from typing import Any

# Two texts begin like a formula and are none: a signed number, and a cut of two labels as marts
# write it, in which nothing can be called or looked up.
_NUMBER = r"[+-]\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_CUT = r"=-?\d+\|=-?\d+"
_RUN = re.compile(rf"'*(?!(?:{_NUMBER}|{_CUT})\Z)[=+\-@\t\r]")  # what a spreadsheet would run


def shown_cell(text: str) -> str:
    """The text with an apostrophe before it if it could be taken for a formula."""
    return f"'{text}" if _RUN.match(text) else text


def shown_row(values: Iterable[Any]) -> list[Any]:
    """The values of a row of CSV: texts as `shown_cell` has them, all others as they are."""
    return [shown_cell(value) if isinstance(value, str) else value for value in values]


def plain_cell(text: str) -> str:
    """What `shown_cell` was given."""
    return text[1:] if text.startswith("'") and _RUN.match(text) else text
