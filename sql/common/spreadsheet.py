"""Cells that a spreadsheet shows and does not run: texts come from outside, and may be formulas."""

import re

_RUN = re.compile("'*[=+\\-@\t\r]")  # what spreadsheets take for the start of a formula


def shown_cell(text: str) -> str:
    """The text with an apostrophe before it if it could be taken for a formula."""
    return f"'{text}" if _RUN.match(text) else text


def plain_cell(text: str) -> str:
    """What `shown_cell` was given."""
    return text[1:] if text.startswith("'") and _RUN.match(text) else text
