"""What `[collections.NAME]` of `gradelake.toml` may hold, and whether it does."""

import re
from pathlib import Path
from typing import Any

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, check_keys, check_name

Groups = dict[str, dict[str, tuple[str, ...]]]  # grouping -> group -> patterns of systems

_STRINGS = {
    "ir_dataset",
    "queries",
    "passages",
    "assessor",
    "scoreddocs",
    "near_duplicates",
    "inbox",
}
_LISTS = {"runs", "responses"}
TABLES = ("judgments", "official_ranks")
_NUMBERS = {"min_relevant", "max_relevance", "default_pool_depth"}


def checked(table: dict[str, Any], project: Project, collection: str) -> dict[str, Any]:
    """The settings of `[collections.NAME]`, each as `Collection` has it.

    Raises `BadInput` with the line of the one that is wrong.
    """
    known = {
        *_STRINGS,
        *_LISTS,
        *TABLES,
        *_NUMBERS,
        "passages_for",
        "leave_out_near_duplicates",
        "groups",
    }
    all_are_near = "passages" in table or "ir_dataset" not in table
    settings: dict[str, Any] = {"passages_for": "all" if all_are_near else "pool"}
    for key, value in table.items():
        line = _line(project.file, collection, key)
        where = f"{project.file}{f':{line}' if line else ''}: [collections.{collection}]"
        check_keys([key], known, where)
        if key in _STRINGS and not (isinstance(value, str) and value):
            raise BadInput(f"{where}: {key} must be a string", f'For example: {key} = "...".')
        if key in _NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
            raise BadInput(f"{where}: {key} must be a whole number", _as_number(key, value))
        if key in _NUMBERS and not -(1 << 31) <= value < 1 << 31:
            raise BadInput(f"{where}: {key} must be a whole number of 32 bits")
        if key == "default_pool_depth" and value < 1:
            raise BadInput(f"{where}: default_pool_depth must be at least 1")
        if key == "leave_out_near_duplicates" and not isinstance(value, bool):
            raise BadInput(f"{where}: {key} must be true or false")
        if key == "groups":
            value = _groups(value, f"{where}: groups")
        if key == "passages_for" and value not in ("all", "pool"):
            raise BadInput(f'{where}: passages_for must be "all" or "pool"')
        if key in _LISTS:
            value = (value,) if isinstance(value, str) else value
            if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
                raise BadInput(f"{where}: {key} must be a list of file patterns")
            value = tuple(value)
        if key in TABLES:
            if isinstance(value, str):
                settings["assessor_is_unnamed"] = key == "judgments"
                value = {"official": value}
            if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
                raise BadInput(f'{where}: {key} must look like {{ name = "file" }}')
            for name in value:
                check_name(name, f"{where}: {key}")
        if key in ("assessor", "scoreddocs"):
            check_name(value, f"{where}: {key}")
        settings[key] = value
    return settings


def _line(file: Path, collection: str, key: str) -> int | None:
    """Where a setting stands; None where the table is written in another way than usual."""
    inside = False
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None  # it was parsed before, and is gone
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("["):
            table = re.sub(r"[\s\"']", "", line.partition("#")[0])
            inside = table == f"[collections.{collection}]"
        elif inside and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[.=]", line):
            return number
    return None


def _as_number(key: str, value: Any) -> str:
    """The same setting as it should be written."""
    text = value.strip() if isinstance(value, str) else ""
    return f"Write {key} = {text if re.fullmatch('[0-9]{1,9}', text) else 2}, without quotes."


def _groups(value: Any, where: str) -> Groups:
    if not isinstance(value, dict) or not all(
        isinstance(groups, dict) for groups in value.values()
    ):
        raise BadInput(
            f"{where} must hold a table for each grouping",
            'For example: [collections.NAME.groups.family] with bert = ["bert_*"].',
        )
    found: Groups = {}
    for grouping, groups in value.items():
        check_name(grouping, where)
        for group, patterns in groups.items():
            check_name(group, f"{where}.{grouping}")
            patterns = [patterns] if isinstance(patterns, str) else patterns
            if not isinstance(patterns, list) or not all(isinstance(p, str) for p in patterns):
                raise BadInput(f"{where}.{grouping}: {group} must be a list of system names")
            found.setdefault(grouping, {})[group] = tuple(patterns)
    return found
