"""Paths into nested rows: `inputs.question`, `spans[].documents[].text`, `{}.{}`, `^.id`.

`#` is a row's place in the list that it comes from, `^.scores[#]` what another list has there.
`faith*, */score` are columns by their names: all of it, or what stands beside `/` or a dot.

A name that holds dots is found whole before it is taken apart, for tools write both
`{"inputs": {"question": ...}}` and a column `inputs.question`. Names are compared by their letters
and digits alone, as `plain` has them.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from gradelake.sql.common import files

Row = tuple[int, dict[str, Any]]

_STEP = re.compile(r"\[(-?\d*)\]|(\{\})|([^.\[\]{}]+)|\.")


class Nested(dict):
    """A row that was found inside another: `around` it is the object that it came from, and in it
    the row is the `number`-th, from 1; `inside` is what a key of that object holds, as it is."""

    around: dict[str, Any] | None = None
    number: int = 1
    inside: Any = None


def plain(name: str) -> str:
    """A name as it is compared: `Search Term`, `search_term` and `SearchTerm` are one."""
    return _plain(name)


@lru_cache(maxsize=10_000)
def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold()) or name


def key_of(row: dict[str, Any], name: str) -> str | None:
    """The key of a row that this name means: itself, or the first that has its letters."""
    if name in row:
        return name
    if name.startswith(("^", "#")):  # around it, or its place
        return None
    wanted = _plain(name)
    return next((key for key in row if _plain(key) == wanted), None)


def has(row: dict[str, Any], path: str) -> bool:
    """Whether a column, or something at a path, is there."""
    if key_of(row, path) is not None:
        return True
    return bool(_several(row, path)) if is_several(path) else any(True for _ in _found(row, path))


def is_several(path: str) -> bool:
    """Whether it means several columns, by patterns of their names."""
    return "*" in path or "," in path


def value_at(row: dict[str, Any], path: str) -> Any:
    """What a column holds, or stands at a path: a list where the path has `[]`; an object where
    it means several columns; None where nothing is there."""
    key = key_of(row, path)
    if key is not None:
        return row[key]
    if is_several(path):
        return _several(row, path)
    found = [*_found(row, path)]
    return found if "[]" in path else found[0] if found else None


def _several(row: dict[str, Any], path: str) -> dict[str, Any]:
    """What columns hold, by their names or the parts of them that tell them apart."""
    found = {}
    for pattern in filter(None, map(str.strip, path.split(","))):
        wanted = re.compile("(.+)".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)
        is_part = pattern.startswith(("*/", "*.")) or pattern.endswith(("/*", ".*"))
        for name, value in row.items():
            if same := wanted.fullmatch(name):
                found[" ".join(same.groups()) if is_part else name] = value
    return found


def nested(rows: Iterable[Row], path: str) -> Iterator[Row]:
    """The rows that stand at a path within each row, with the line of that one."""
    steps = _steps(path)
    for line, row in rows:
        for inner in _rows(row, row, steps):
            yield line, inner


def check_path(path: str) -> None:
    """Raise `ValueError` for what is no path to rows."""
    _steps(path)


def _found(row: dict[str, Any], path: str) -> Iterator[Any]:
    at: Any = row
    path = path.replace("[#]", f"[{getattr(row, 'number', 1) - 1}]")
    while path.startswith("^"):
        at = getattr(at, "around", None)
        path = path[1:].removeprefix(".")
        if at is None:
            return
    if path == "#":
        yield getattr(at, "number", 1)
        return
    try:
        steps = _steps(path)
    except ValueError:  # the name of a column that is not there
        return
    yield from _values(at, steps)


@lru_cache(maxsize=1_000)
def _steps(path: str) -> tuple[str | int, ...]:
    """The steps of a path: names, `[]` for each of a list, `{}` for each of an object, or a place
    in a list. Raises `ValueError` for what is no path."""
    steps: list[str | int] = []
    end = 0
    for found in _STEP.finditer(path):
        if found.start() != end:
            break
        end = found.end()
        place, each, name = found.groups()
        if name:
            steps.append(name)
        elif each:
            steps.append("{}")
        elif place is not None:
            steps.append(int(place) if place else "[]")
    if end != len(path):
        raise ValueError(f"{path!r} is no path, such as inputs.question or spans[].text")
    return tuple(steps)


def _values(at: Any, steps: tuple[str | int, ...]) -> Iterator[Any]:
    """All that stands at the end of these steps."""
    if not steps:
        yield at
        return
    step, at = steps[0], opened(at)
    if step == "[]":
        for each in at if isinstance(at, list) else ():
            yield from _values(each, steps[1:])
    elif step == "{}":
        for each in at.values() if isinstance(at, dict) else ():
            yield from _values(each, steps[1:])
    elif isinstance(step, int):
        if isinstance(at, list) and -len(at) <= step < len(at):
            yield from _values(at[step], steps[1:])
    elif isinstance(at, dict):
        for n, name in _names(steps):
            key = key_of(at, name)
            if key is not None:
                yield from _values(at[key], steps[n:])
                return


def _rows(at: Any, around: dict[str, Any] | None, steps: tuple[str | int, ...]) -> Iterator[dict]:
    """The rows at the end of these steps."""
    if not steps:
        if isinstance(at, dict):
            yield at
        return
    step = steps[0]
    at = opened(at.inside if isinstance(at, Nested) and step in ("[]", "{}") else at)
    if step == "[]" and isinstance(at, list):
        for number, each in enumerate(at, start=1):
            row = Nested(each if isinstance(each, dict) else {"value": each})
            row.around, row.number, row.inside = around, number, each
            yield from _rows(row, row, steps[1:])
    elif step == "{}" and isinstance(at, dict):
        for number, (key, each) in enumerate(at.items(), start=1):
            row = Nested({"key": key, **(each if isinstance(each, dict) else {"value": each})})
            row.around, row.number, row.inside = around, number, each
            yield from _rows(row, row, steps[1:])
    elif isinstance(step, int) and isinstance(at, list) and -len(at) <= step < len(at):
        yield from _rows(at[step], around, steps[1:])
    elif isinstance(at, dict) and isinstance(step, str):
        for n, name in _names(steps):
            key = key_of(at, name)
            if key is not None:
                inner = at[key]
                if isinstance(inner, dict):
                    row = Nested(inner)
                    row.around, row.inside = around, inner
                    inner, around = row, row
                yield from _rows(inner, around, steps[n:])
                return


def _names(steps: tuple[str | int, ...]) -> Iterator[tuple[int, str]]:
    """(how many steps, the name that they make together), the longest first."""
    names: list[str] = []
    for step in steps:
        if isinstance(step, int) or step in ("[]", "{}"):
            break
        names.append(step)
    for n in range(len(names), 0, -1):
        yield n, ".".join(names[:n])


def opened(value: Any) -> Any:
    """A text that holds JSON, as tables keep nested values, as what it holds."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            return files.parse_json(value)
        except ValueError:
            return value
    return value
