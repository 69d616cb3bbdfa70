"""Halves of characters: JSON can spell them, no process, log, file or table can hold them."""

import re

_HALF = re.compile("[\ud800-\udfff]")


def without_halves(text: str) -> str:
    """The text with U+FFFD for each half of a character."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
