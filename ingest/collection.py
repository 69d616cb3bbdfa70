"""The settings of one collection in `gradelake.toml`."""

import glob
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sql.errors import BadInput
from sql.project import Project, check_keys, check_name, did_you_mean
from sql.seeds import seeds_folder

DEFAULT_POOL_DEPTH = 20
ACCEPTED, QUARANTINE = PUT_AWAY = ("accepted", "quarantine")  # folders of an inbox
Groups = dict[str, dict[str, tuple[str, ...]]]  # grouping -> group -> patterns of systems


@dataclass(frozen=True)
class Collection:
    """What belongs to a collection, and where it is. File names are as people wrote them."""

    name: str
    folder: Path
    ir_dataset: str | None = None
    queries: str | None = None
    passages: str | None = None
    passages_for: str = "all"
    judgments: dict[str, str] = field(default_factory=dict)
    assessor: str = "official"
    runs: tuple[str, ...] = ()
    scoreddocs: str = "scoreddocs"
    responses: tuple[str, ...] = ()
    official_ranks: dict[str, str] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)
    near_duplicates: str | None = None
    leave_out_near_duplicates: bool = False
    min_relevant: int = 1
    max_relevance: int | None = None
    default_pool_depth: int = DEFAULT_POOL_DEPTH
    inbox: str | None = None

    @classmethod
    def named(cls, project: Project, name: str) -> "Collection":
        """Settings of one collection. Raises `BadInput` naming the setting that is wrong."""
        if name not in project.collections:
            raise BadInput(
                f"{project.file}: there is no [collections.{name}]",
                did_you_mean(name, project.collections),
            )
        table = project.collections[name]
        where = f"{project.file}: [collections.{name}]"
        settings = {"name": name, "folder": project.folder} | _checked(table, where)
        collection = cls(**settings)
        if not collection.ir_dataset and not collection.queries:
            raise BadInput(
                f"{where} has no topics", 'Set ir_dataset = "..." or queries = "topics.tsv".'
            )
        if collection.inbox is not None:
            _check_inbox(collection, project, where)
        return collection

    def path(self, shown: str) -> Path:
        return self.folder / shown

    def matching(self, patterns: tuple[str, ...], setting: str) -> list[str]:
        """Files that glob patterns match, relative to the project where they can be, sorted.

        Raises `BadInput` for a pattern that matches nothing.
        """
        found: set[Path] = set()
        for pattern in patterns:
            files = [
                file
                for name in glob.glob(pattern, root_dir=self.folder, recursive=True)
                if (file := self.folder / name).is_file()
            ]
            if not files:
                raise BadInput(
                    f"[collections.{self.name}] {setting}: nothing matches {pattern!r}",
                    f"Paths are relative to {self.folder}.",
                )
            found.update(files)
        return sorted(_relative(file, self.folder) for file in found)


def _relative(file: Path, folder: Path) -> str:
    return str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)


def _check_inbox(collection: Collection, project: Project, where: str) -> None:
    """Every file of an inbox is moved: nothing else that is needed may be in there, and no file may
    be in two inboxes."""
    inbox = collection.path(collection.inbox).resolve()
    lake = project.lake_path.resolve()
    own = [project.file, lake, seeds_folder(project).resolve()]
    own += [
        project.folder / project.grading[name]
        for name in ("prompts", "engines")
        if project.grading.get(name)
    ]
    for table in project.collections.values():
        own += [project.folder / path for path in _files_named(table)]
    kept = [inbox / name for name in PUT_AWAY]  # may be named: nothing is moved from there
    inside = [
        place
        for place in own
        if place.resolve().is_relative_to(inbox)
        and not any(place.resolve().is_relative_to(folder) for folder in kept)
    ]
    if inbox.is_relative_to(lake) or inside:
        raise BadInput(
            f"{where}: inbox must be a folder of its own: its files are moved once they were read"
            + (f", and {inside[0]} is needed where it is" if inside else ""),
            'For example: inbox = "inbox".',
        )
    for name, table in project.collections.items():
        if name == collection.name or not isinstance(table.get("inbox"), str):
            continue
        other = (project.folder / table["inbox"]).resolve()
        if inbox.is_relative_to(other) or other.is_relative_to(inbox):
            raise BadInput(
                f"{where}: inbox must be a folder of its own: {name} has its inbox there too",
                f'For example: inbox = "inbox/{collection.name}".',
            )


def _files_named(table: dict[str, Any]) -> list[str]:
    """Paths that a collection's settings name; of a pattern, the part before it."""
    named: list[Any] = [table.get(name) for name in ("queries", "passages", "near_duplicates")]
    for name in ("judgments", "official_ranks"):
        named += table[name].values() if isinstance(table.get(name), dict) else []
    for name in ("runs", "responses"):
        for pattern in table[name] if isinstance(table.get(name), list) else []:
            named.append(re.split(r"[*?\[]", str(pattern), maxsplit=1)[0])
    return [path for path in named if isinstance(path, str) and path]


_STRINGS = {"ir_dataset", "queries", "passages", "assessor", "scoreddocs", "near_duplicates",
            "inbox"}  # fmt: skip
_LISTS = {"runs", "responses"}
_TABLES = {"judgments", "official_ranks"}
_NUMBERS = {"min_relevant", "max_relevance", "default_pool_depth"}


def _checked(table: dict[str, Any], where: str) -> dict[str, Any]:
    known = {*_STRINGS, *_LISTS, *_TABLES, *_NUMBERS, "passages_for", "leave_out_near_duplicates",
             "groups"}  # fmt: skip
    check_keys(table, known, where)
    all_are_near = "passages" in table or "ir_dataset" not in table
    settings: dict[str, Any] = {"passages_for": "all" if all_are_near else "pool"}
    for key, value in table.items():
        if key in _STRINGS and not (isinstance(value, str) and value):
            raise BadInput(f"{where}: {key} must be a string")
        if key in _NUMBERS and (not isinstance(value, int) or isinstance(value, bool)):
            raise BadInput(f"{where}: {key} must be a whole number")
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
        if key in _TABLES:
            value = {"official": value} if isinstance(value, str) else value
            if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
                raise BadInput(f'{where}: {key} must look like {{ name = "file" }}')
            for name in value:
                check_name(name, f"{where}: {key}")
        if key in ("assessor", "scoreddocs"):
            check_name(value, f"{where}: {key}")
        settings[key] = value
    return settings


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
