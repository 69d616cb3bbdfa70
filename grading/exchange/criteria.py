"""Reads per-criterion grades: a JSON object from pairs to the grades of several criteria."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from gradelake.grading.exchange.criteria_graders import CriteriaGraders
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench_format import TEXT, WHOLE, Fault, checked, short
from gradelake.sql.common import console, files
from gradelake.sql.common.problems import Problems

_NULL = "the file has no grade (null)"
JUDGED_TO = 3  # top of the scale where nobody says which it is


class _Pairs(list):
    """A JSON object as its (key, value) pairs, so that a key that is there twice shows."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Pairs)
_BLANKS = re.compile(r"[ \t\r\n]*")
_BEGINNING = re.compile(r'\s*\{\s*"')


def read_criteria(into: FileImport, problems: Problems) -> None:
    """Every grade of the pairs of the collection's queries; a null grade is a failed one.

    Raises `BadInput` where nobody says who graded.
    """
    graders = CriteriaGraders(into.choices, into.shown)
    chunks = files.chunks(into.path, into.shown, sys.maxsize, console.progress)
    text = b"".join(chunks).decode()
    for line, key, criteria in _content(text, problems):
        try:
            query_id, passage_id = _pair(key)
            if not isinstance(criteria, _Pairs):
                raise Fault(f"what {key} has is {short(criteria)}, not an object")
            grades = [
                (
                    checked(TEXT, name, f"a criterion of {key}"),
                    _grade(value, name, key, graders.scale),
                )
                for name, value in criteria
            ]
        except Fault as fault:
            problems.add(line, str(fault))
            continue
        if not into.has_query(query_id):
            continue
        into.seen["pairs"] += 1
        into.seen["pairs_without_criterion"] += not grades
        for name, grade in grades:
            grader_id, item_id = graders.place(name, query_id)
            status, error = ("failed", _NULL) if grade is None else ("ok", None)
            row = (grader_id, query_id, passage_id, item_id, grade, status, None, None, error)
            into.put("grades", *row, None)
    into.graders = graders.rows
    into.scale_at_least = {} if graders.scale else dict.fromkeys(graders.rows, JUDGED_TO)
    into.items = graders.items(into.found_queries)


class _Text:
    """A JSON text that is read value by value, so that the line of each is known."""

    def __init__(self, text: str):
        self.text, self.at, self.line = text, 0, 1

    def next(self) -> str:
        """The next character that is not blank; empty at the end."""
        self._go_to(_BLANKS.match(self.text, self.at).end())  # type: ignore[union-attr]
        return self.text[self.at : self.at + 1]

    def require(self, character: str) -> None:
        if self.next() != character:
            raise self.fault(f"Expecting '{character}'" if character else "Extra data")
        self._go_to(self.at + 1)

    def value(self) -> Any:
        self.next()
        value, end = _DECODER.raw_decode(self.text, self.at)
        files.refuse_half_characters(self.text[self.at : end], value)
        self._go_to(end)
        return value

    def fault(self, message: str) -> json.JSONDecodeError:
        return json.JSONDecodeError(message, self.text, self.at)

    def _go_to(self, at: int) -> None:
        self.line += self.text.count("\n", self.at, at)
        self.at = at


def _content(text: str, problems: Problems) -> Iterator[tuple[int, str, Any]]:
    """(line, key, value) of a JSON object. Where it is none, that is added to the problems."""
    if not _BEGINNING.match(text):
        problems.add(1, "not a JSON object with pairs")
        return
    content, before = _Text(text), "{"
    try:
        while before == "{" or content.next() != "}":
            content.require(before)
            if content.next() != '"':
                raise content.fault("Expecting property name enclosed in double quotes")
            line, key = content.line, content.value()
            content.require(":")
            yield line, key, content.value()
            before = ","
        content.require("}")
        content.require("")
    except json.JSONDecodeError as error:
        problems.add(error.lineno, f"not JSON: {error.msg} at column {error.colno}")
    except RecursionError:
        problems.add(content.line, "not JSON: nested too deeply")
    except ValueError as error:
        problems.add(content.line, f"not JSON: {error}")


def _pair(key: str) -> tuple[str, str]:
    """(query id, passage id) of a key: a Python tuple, written as a string."""
    try:
        pair = ast.literal_eval(key.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pair = None
    is_pair = isinstance(pair, tuple) and len(pair) == 2
    if not is_pair or any(isinstance(i, bool) or not isinstance(i, int | str) for i in pair):
        raise Fault(f"{key!r} is no pair (QUERY, PASSAGE)")
    if "" in pair:
        raise Fault(f"{key!r} has an empty id")
    return str(pair[0]), str(pair[1])


def _grade(value: Any, name: str, key: str, scale: tuple[int, int] | None) -> int | None:
    if value is None:
        return None
    what = f"{name} of {key}"
    grade = checked(WHOLE, value, what)
    if scale and not scale[0] <= grade <= scale[1]:
        raise Fault(f"{what} is {grade}, off the scale {scale[0]}-{scale[1]}")
    return grade
