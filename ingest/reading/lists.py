"""Cells that hold a list, as programs write one into a form that knows none.

That is JSON, Python's `['a', 'b']`, or numpy's `['a' 'b']`: without commas, which Python itself
would glue into one text.
"""

import ast
import re
from typing import Any

from gradelake.sql.common import files

_BEGINNING = re.compile(r"\[\s*['\"\[{]")  # of what can hardly be a text
_ARRAY = re.compile(r"array\((\[.*\])(?:,\s*dtype=\w+)?\)", re.DOTALL)  # as numpy's repr has one
_TOKEN = re.compile(  # a text, perhaps cut off; a bracket; a comma; a number or a word
    r"""'(?:[^'\\]|\\.)*+\\?(?:'|\Z)|"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[][(){},]|[^][(){},\s'"]+""",
    re.DOTALL,
)


def list_of(cell: str) -> list[Any] | None:
    """The list that a cell holds; None for a text, which may begin with a bracket, too.

    Raises `ValueError` for the beginning of a list that cannot be read: one that was cut off, say.
    """
    text = cell.strip()
    if wrapped := _ARRAY.fullmatch(text):
        text = wrapped[1]
    if not text.startswith("["):
        return None
    for parse in (files.parse_json, _literal):
        try:
            found = parse(text)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list) else None
    if _BEGINNING.match(text):
        raise ValueError("begins like a list, and is none that can be read")
    return None


def _literal(text: str) -> Any:
    """What Python's text says; or numpy's, whose parts have nothing but blanks between them."""
    parts = _parts(text)
    read = [_literal(part) if part[0] == "[" else ast.literal_eval(part) for part in parts]
    found = read if parts else ast.literal_eval(text)
    if parts and ... in found:
        raise ValueError("numpy left some of them out")
    files.refuse_half_characters(text, found)
    return found


def _parts(text: str) -> list[str]:
    """The parts of a list without commas; none of another."""
    depth, start = 0, 0
    parts: list[str] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in ("(", "[", "{"):
            depth += 1
            start = token.start() if depth == 2 else start
        elif mark in (")", "]", "}"):
            depth -= 1
            parts += [text[start : token.end()]] if depth == 1 else []
        elif depth == 1 and mark != ",":
            parts.append(mark)
        if (depth == 1 and mark == ",") or (depth == 0 and token.end() < len(text)):
            return []
    return [] if depth else parts
