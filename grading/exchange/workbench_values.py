"""Checked values out of the workbench's JSON: each is what it should be, or a `Fault` says so."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import polars as pl

from gradelake.grading.exchange.workbench import GRADER_COLUMNS, GRADES, OF_ITEM, STATUSES, TARGETS
from gradelake.sql.common import files

_INT32 = 1 << 31


class Fault(ValueError):
    """What is wrong with a line, for its reader."""


def the(kind: type, value: Any, what: str) -> Any:
    """The value, if it is of that JSON type. Raises `Fault`."""
    if not isinstance(value, kind):
        names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
        raise Fault(f"{what} is {short(value)}, not {names[kind]}")
    return value


def text_of(value: Any, what: str) -> str:
    """A string that is not empty. Raises `Fault`."""
    if not the(str, value, what):
        raise Fault(f"{what} is empty")
    return value


def whole(value: Any, what: str) -> int:
    """A whole number of 32 bits. Raises `Fault`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not -_INT32 <= value < _INT32:
        raise Fault(f"{what} is {short(value)}, not a whole number")
    return value


def short(value: Any) -> str:
    """A value as a person is shown it."""
    if value is None:
        return "missing"
    return json.dumps(value, ensure_ascii=False)[:60]


def target_of(entry: dict[str, Any], ratings: list[Any]) -> str:
    """What was rated; files older than `prompt_type` tell it by the key of the ratings."""
    if entry.get("prompt_type"):
        return "nugget" if entry["prompt_type"] == "nugget" else "question"
    first = ratings[0] if ratings else None
    return "nugget" if isinstance(first, dict) and first.get("nugget_id") else "question"


def answers_of(entry: dict[str, Any]) -> dict[str, str | None]:
    """item_id -> reply; the first of each."""
    answers: dict[str, str | None] = {}
    for pair in the(list, entry.get("answers") or [], "answers"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise Fault(f"answer is {short(pair)}, not [item id, text]")
        if pair[1] is not None:
            the(str, pair[1], "text of an answer")
        answers.setdefault(text_of(pair[0], "item id of an answer"), pair[1])
    return answers


def ids_of(entry: dict[str, Any], key: str) -> list[str]:
    return [text_of(item, f"id in {key}") for item in the(list, entry.get(key) or [], key)]


def errors_of(found: Any) -> tuple[dict[str, tuple[str, str | None]], int]:
    """item_id -> (reason, reply) of an entry's failed prompts, and how many errors name no item.

    They are an object; lists in some files, of [item id, error] or of errors that name the item.
    """
    if isinstance(found, dict):
        return {text_of(item_id, "item"): error_of(error) for item_id, error in found.items()}, 0
    named, nameless = {}, 0
    for error in the(list, found or [], "llm_response_errors"):
        if isinstance(error, list) and len(error) == 2:
            item_id, error = error
        else:
            error = the(dict, error, "error")
            item_id = error.get("question_id") or error.get("nugget_id")
        if item_id is None:
            nameless += 1
        else:
            named[text_of(item_id, "item of an error")] = error_of(error)
    return named, nameless


def error_of(error: Any) -> tuple[str, str | None]:
    """(reason, reply) of a prompt that failed; some files hold the reason alone."""
    if isinstance(error, str):
        return error or "no reason given", None
    error = the(dict, error, "error")
    reason = error.get("failure_reason") or error.get("caught_exception") or "no reason given"
    response = error.get("response")
    if response is not None:
        the(str, response, "response of an error")
    return str(reason), response or None


def restored_grader(row: dict[str, Any]) -> dict[str, Any]:
    """A grader as another lake had it. Raises `Fault` unless it is whole."""
    if "decoding" in row:  # what files from before raw schema 8 call it
        row = {"settings": row["decoding"], **row}
    read: dict[str, Callable[[Any, str], Any]] = {
        **dict.fromkeys(("grader_id", "name", "engine", "settings", "parser"), text_of),
        "scale_min": whole,
        "scale_max": whole,
        "created_at": _time,
    }
    grader = {
        column: read.get(column, _string)(row.get(column), f"llm_options.gradelake.{column}")
        for column in GRADER_COLUMNS
        if column != "prompt_text" or row.get(column) is not None
    }
    try:
        the(dict, files.parse_json(grader["settings"]), "llm_options.gradelake.settings")
    except ValueError:
        raise Fault("llm_options.gradelake.settings is no JSON object") from None
    if grader["target"] not in TARGETS:
        raise Fault(f"llm_options.gradelake.target is {grader['target']!r}")
    return grader


def restored_grade(row: dict[str, Any]) -> dict[str, Any]:
    """A grade as another lake had it, keys that nobody knows left out. Raises `Fault`."""
    read: dict[Any, Callable[[Any, str], Any]] = {
        pl.String: _string,
        pl.Int64: whole,
        pl.Float64: finite,
        pl.Datetime("us"): _time,
    }
    grade = {
        column: read[GRADES[column]](row.get(column), f"gradelake.grades {column}")
        for column in OF_ITEM
        if column == "item_id" or row.get(column) is not None
    }
    if grade.get("status") not in STATUSES:
        raise Fault(f"gradelake.grades status is {short(grade.get('status'))}")
    return grade


def _string(value: Any, what: str) -> str:
    return the(str, value, what)


def finite(value: Any, what: str, at_most: float = sys.float_info.max) -> float:
    """A number that is not too large. Raises `Fault`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= at_most:
        raise Fault(f"{what} is {short(value)}, not a finite number")
    return float(value)


def _time(value: Any, what: str) -> datetime:
    """A time without a zone, as the lake has it; one with a zone is taken to UTC."""
    try:
        time = datetime.fromisoformat(the(str, value, what))
        return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
    except (OverflowError, ValueError):
        raise Fault(f"{what} is {short(value)}, not a time") from None
