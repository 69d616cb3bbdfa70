"""Reads per-criterion grades: a JSON object from pairs to the grades of several criteria."""

import ast
import json
import sys
from typing import Any

from gradelake.grading.exchange.criteria_graders import CriteriaGraders
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench_format import TEXT, WHOLE, LineFault, checked, short
from gradelake.sql.common import console, files
from gradelake.sql.common.problems import Problems

_NULL = "the file has no grade (null)"
JUDGED_TO = 3  # top of the scale where nobody says which it is


class _Pairs(list):
    """A JSON object as its (key, value) pairs, so that a key that is there twice shows."""


def read_criteria(into: FileImport, problems: Problems) -> None:
    """Every grade of the pairs of the collection's queries; a null grade is a failed one.

    Raises `BadInput` where nobody says who graded.
    """
    graders = CriteriaGraders(into.choices, into.shown)
    chunks = files.chunks(into.path, into.shown, sys.maxsize, console.progress)
    text = b"".join(chunks).decode()
    line, at = 1, 0
    for key, criteria in _content(text, problems):
        try:
            query_id, passage_id = _pair(key)
            if not isinstance(criteria, _Pairs):
                raise LineFault(f"what {key} has is {short(criteria)}, not an object")
            grades = [
                (
                    checked(TEXT, name, f"a criterion of {key}"),
                    _grade(value, name, key, graders.scale),
                )
                for name, value in criteria
            ]
        except LineFault as fault:
            line, at = _at(text, key, line, at)
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


def _content(text: str, problems: Problems) -> _Pairs:
    """(key, value) of a JSON object. Where it is none, that is added to the problems."""
    found = _Pairs()
    try:
        found = files.parse_json(text, object_pairs_hook=_Pairs)
        if not (isinstance(found, _Pairs) and found):
            problems.add(1, "not a JSON object with pairs")
            return _Pairs()
    except json.JSONDecodeError as error:
        problems.add(error.lineno, f"not JSON: {error.msg} at column {error.colno}")
    except ValueError as error:
        problems.add(None, f"not JSON: {error}")
    return found


def _at(text: str, key: str, line: int, at: int) -> tuple[int, int]:
    """(line, place) of a key that stands behind another; that one's where it is not as Python
    writes it."""
    for written in (json.dumps(key), json.dumps(key, ensure_ascii=False)):
        if (found := text.find(written, at)) >= 0:
            return line + text.count("\n", at, found), found
    return line, at


def _pair(key: str) -> tuple[str, str]:
    """(query id, passage id) of a key: a Python tuple, written as a string."""
    try:
        pair = ast.literal_eval(key.strip())
        files.refuse_half_characters(key, pair)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pair = None
    is_pair = isinstance(pair, tuple) and len(pair) == 2
    if not is_pair or any(isinstance(i, bool) or not isinstance(i, int | str) for i in pair):
        raise LineFault(f"{key!r} is no pair (QUERY, PASSAGE)")
    if "" in pair:
        raise LineFault(f"{key!r} has an empty id")
    return str(pair[0]), str(pair[1])


def _grade(value: Any, name: str, key: str, scale: tuple[int, int] | None) -> int | None:
    if value is None:
        return None
    what = f"{name} of {key}"
    grade = checked(WHOLE, value, what)
    if scale and not scale[0] <= grade <= scale[1]:
        raise LineFault(f"{what} is {grade}, off the scale {scale[0]}-{scale[1]}")
    return grade
