"""Banks in JSON: a line per object, or one document, in which each object knows its line."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from json.decoder import JSONObject  # type: ignore[attr-defined]  # not in its stub
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # nor in this
from typing import Any, TypeVar

from gradelake.sql.common import files

Line = TypeVar("Line", int, int | None)


class Located(dict):
    """A JSON object that knows the line it begins on."""

    line: int


class LineDecoder(json.JSONDecoder):
    """Decodes a document with its objects as `Located`."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self._newlines: list[int] = []
        self.parse_object = self._located
        # the scanner in C does not call parse_object
        self.scan_once = py_make_scanner(self)

    def decode(self, text: str, *arguments: Any) -> Any:
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        return super().decode(text, *arguments)

    def _located(self, text_and_end: tuple[str, int], *arguments: Any) -> tuple[Located, int]:
        value, end = JSONObject(text_and_end, *arguments)
        found = Located(value)
        found.line = bisect_left(self._newlines, text_and_end[1] - 1) + 1
        return found, end


def line_of(value: Any, line: Line) -> Line:
    """The line an object begins on; `line` where it does not know."""
    return getattr(value, "line", line)


def read_objects(data: bytes, shown: str) -> Iterator[tuple[int, Any]]:
    """(line, value) of each bank: of JSON lines, or of a document that lists or holds them.

    Raises `Rejected` when it is neither.
    """
    first = next(text for _, text in files.numbered_lines(data))
    try:
        by_lines = isinstance(files.parse_json(first), dict)
    except ValueError:
        by_lines = ".jsonl" in shown.lower() and first.strip() not in ("{", "[")
    if by_lines:
        for line, value in files.json_lines(data, shown):
            yield from _banks_in(value, line)
        return
    hint = "A bank is one JSON document, or JSON lines with an object on each. Was it cut off?"
    yield from _banks_in(files.json_of(data.rstrip(), shown, hint, cls=LineDecoder), 1)


def _banks_in(value: Any, line: int) -> Iterator[tuple[int, Any]]:
    """The banks of a list, of a container by topic (autojudge), of a list of lessons (TQA)."""
    if isinstance(value, dict):
        held = value.get("banks", value.get("lessons"))
        if isinstance(held, dict | list):
            yield from _banks_in(list(held.values()) if isinstance(held, dict) else held, line)
        else:
            yield line_of(value, line), value
    elif isinstance(value, list):
        for element in value:
            yield line_of(element, line), element
    else:
        yield line, value
