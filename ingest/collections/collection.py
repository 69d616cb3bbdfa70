"""The settings of one collection in `gradelake.toml`."""

import glob
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from gradelake.ingest.collections.rules import Rules
from gradelake.ingest.collections.trec import system_name
from gradelake.ingest.engines.settings import SearchEngine
from gradelake.ingest.mapping.form import File, file_of, settings_of
from gradelake.sql.build.seeds import seeds_folder
from gradelake.sql.common import checked
from gradelake.sql.common.checked import Checked, Name, Text, one_of
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project, require_known
from gradelake.sql.common.quoting import toml_value

DEFAULT_POOL_DEPTH = 20
NO_TOPICS = (
    'Set ir_dataset = "..." or queries = "topics.tsv"; or bring logs of a RAG system in, whose '
    "questions become topics: gradelake import rag NAME FILE"
)
ACCEPTED, QUARANTINE = PUT_AWAY = ("accepted", "quarantine")  # folders of an inbox


_LARGEST = (1 << 31) - 1
_Int32 = Annotated[int, Field(ge=-_LARGEST - 1, le=_LARGEST)]

# settings that name one file
ONE_FILE = ("queries", "query_weights", "clicks", "near_duplicates")


def _as_tuple(value: Any) -> Any:
    """A string or a table alone is a list of one."""
    if isinstance(value, str | dict):
        return (value,)
    return tuple(value) if type(value) is list else value


def _as_table(value: Any) -> Any:
    """A file alone is that of the official ones."""
    return {"official": value} if isinstance(value, str) else value


def _or_nothing(value: Any) -> Any:
    """`false` is nothing."""
    return None if value is False else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
_Topics = Annotated[File, file_of("queries")]
_Passages = Annotated[File, file_of("passages")]
_Run = Annotated[File, file_of("runs")]
_Response = Annotated[File, file_of("responses")]
_ENGINES = "For example: [collections.NAME.engines.b] with url, hits and id."
_LIKE = 'It looks like { name = "file" }.'
Files = Annotated[dict[Name, str], BeforeValidator(_as_table), Field(description=_LIKE)]
_Judgments = Annotated[File, file_of("judgments")]


class Settings(Checked):
    """What `[collections.NAME]` of gradelake.toml may hold. File names are as people wrote them."""

    ir_dataset: Text | None = None
    car_pages: bool = False
    registered_by: Text | None = None
    queries: _Topics | None = None
    passages: Annotated[tuple[_Passages, ...], BeforeValidator(_as_tuple)] = ()
    passages_for: Annotated[str, one_of(("all", "pool"))] | None = None
    judgments: Annotated[dict[Name, _Judgments], BeforeValidator(_as_table)] = Field(
        {}, description=_LIKE
    )
    assessor: Name = "official"
    runs: Annotated[tuple[_Run, ...], BeforeValidator(_as_tuple)] = Field(
        (), description='File patterns, for example: runs = ["runs/*"].'
    )
    scoreddocs: Annotated[Name | None, BeforeValidator(_or_nothing)] = Field(
        "scoreddocs", description="A name of the system, or false: they are left out."
    )
    responses: Annotated[tuple[_Response, ...], BeforeValidator(_as_tuple)] = Field(
        (), description='For example: responses = ["responses/*"].'
    )
    official_ranks: Files = Field({})
    groups: dict[Name, dict[Name, Patterns]] = Field(
        {}, description='For example: [collections.NAME.groups.family] with bert = ["bert_*"].'
    )
    query_weights: _Topics | None = None
    clicks: Annotated[File, file_of("clicks")] | None = None
    near_duplicates: Text | None = None
    guidelines: Text | None = None  # a Markdown file for assessors
    leave_out_near_duplicates: bool = False
    unknown_queries: Annotated[str, one_of(("refuse", "leave out"))] | None = None
    min_relevant: Annotated[_Int32, Field(ge=1)] = 1  # levels of boards begin there, too
    max_relevance: _Int32 | None = None
    default_pool_depth: int = Field(DEFAULT_POOL_DEPTH, ge=1, le=_LARGEST)
    inbox: Text | None = None
    rules: Rules | None = None
    engines: dict[Name, dict[str, Any]] = Field(default={}, description=_ENGINES)


class Collection(Settings):
    """What belongs to a collection, and where it is."""

    engines: dict[str, SearchEngine]  # type: ignore[assignment]
    name: str
    folder: Path
    assessor_is_unnamed: bool  # judgments = "FILE" alone
    is_whole: bool  # false: what came before and is not named stays, and nothing is said of it

    @classmethod
    def named(cls, project: Project, name: str) -> "Collection":
        """Settings of one collection. Raises `BadInput` naming the settings that are wrong."""
        missing = f"{project.file}: there is no [collections.{name}]"
        how = 'Describe it there: queries = "topics.tsv" and what else you have.'
        require_known(name, project.collections, missing, none_yet=how)
        stated = project.collections[name]
        settings = dict(checked.table(Settings, project, "collections", name))
        all_are_near = "passages" in stated or "ir_dataset" not in stated
        settings["engines"] = {
            engine: checked.table(SearchEngine, project, "collections", name, "engines", engine)
            for engine in settings["engines"]
        }
        settings["passages_for"] = settings["passages_for"] or ("all" if all_are_near else "pool")
        settings["unknown_queries"] = settings["unknown_queries"] or (
            "leave out" if "ir_dataset" in stated else "refuse"
        )
        collection = cls.model_construct(
            **settings,
            name=name,
            folder=project.folder,
            assessor_is_unnamed=isinstance(stated.get("judgments"), str),
            is_whole=True,
        )
        where = f"{project.file}: [collections.{name}]"
        for setting in ("registered_by", "car_pages"):
            if getattr(collection, setting) and not collection.ir_dataset:
                raise BadInput(
                    f"{where}: {setting} is for a dataset of ir_datasets",
                    'Name the one that is meant: ir_dataset = "...".',
                )
        if collection.inbox is not None:
            _check_inbox(collection, collection.inbox, project, where)
        return collection

    @property
    def names_topics(self) -> bool:
        """Whether settings say where topics come from; else logs bring them."""
        return bool(self.ir_dataset or self.queries)

    def path(self, shown: str) -> Path:
        return self.folder / shown

    def matching(self, setting: str) -> list[str]:
        """What the glob patterns of a setting match, but for folders, relative to the project where
        it can be, sorted. Links that lead nowhere, pipes and devices are for the reader to refuse
        by name.

        Raises `BadInput` for a pattern that matches no file.
        """
        found: dict[Path, dict[str, str]] = {}
        for pattern in getattr(self, setting):
            files = [
                file
                for name in glob.glob(pattern, root_dir=self.folder, recursive=True)
                if not (file := self.folder / name).is_dir()
            ]
            if not files:
                raise self._no_match(pattern, setting)
            for file in files:
                found[file] = settings_of(pattern) or found.get(file, {})
        here = self.folder
        return sorted(
            File(str(path.relative_to(here) if path.is_relative_to(here) else path), settings)
            for path, settings in found.items()
        )

    def _no_match(self, pattern: str, setting: str) -> BadInput:
        where = f"[collections.{self.name}] {setting}"
        if self.path(pattern).is_file():  # so glob.glob did not take it for its name
            return BadInput(
                f"{where}: nothing matches the pattern {pattern!r}, but a file is called so",
                f'Write {setting} = ["{glob.escape(pattern)}"].',
            )
        if not self.path(pattern).is_dir():
            hint = f"Paths are relative to {self.folder}."
            for other in (f"{pattern}.gz", pattern.removesuffix(".gz"), f"{pattern}l"):
                if others := glob.glob(other, root_dir=self.folder, recursive=True):
                    hint = f'"{other}" matches {counted(len(others), "files")}.'
                    break
            return BadInput(f"{where}: nothing matches {pattern!r}", hint)
        inside = pattern.rstrip("/")
        endings = Counter(
            file.name.removeprefix(system_name(file))
            for file in self.path(pattern).iterdir()
            if file.is_file() and file.name[0] != "."
        )
        patterns = [toml_value(f"{inside}/*{ending}") for ending, _ in endings.most_common(3)]
        return BadInput(
            f"{where}: {pattern!r} is a folder, not files",
            f"Write {setting} = [{', '.join(patterns)}]." if patterns else "There are none in it.",
        )

    def setting_of(self, shown: str) -> str | None:
        """The setting that names a file; None for one that a pattern matched."""
        for key in ONE_FILE:
            if getattr(self, key) == shown:
                return key
        if shown in self.passages:
            return "passages"
        for key in ("judgments", "official_ranks"):
            for name, file in getattr(self, key).items():
                if file == shown:
                    return f"{key}.{name}"
        return None


def _check_inbox(collection: Collection, stated: str, project: Project, where: str) -> None:
    """Every file of an inbox is moved: nothing else that is needed may be in there, and no file may
    be in two inboxes."""
    inbox = collection.path(stated).resolve()
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
            f"{where}: inbox must be a folder of its own: its files are moved once they are read"
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
    named: list[Any] = [  # of whatever kind: they are checked where their collection is read
        table.get(name) for name in (*ONE_FILE, "registered_by")
    ]
    for name in ("judgments", "official_ranks"):
        named += table[name].values() if isinstance(table.get(name), dict) else []
    for name in ("runs", "responses", "passages"):
        given = table.get(name, [])
        named += given if isinstance(given, list) else [given]
    paths = [each.get("file") if isinstance(each, dict) else each for each in named]
    beginnings = [re.split(r"[*?\[]", path, maxsplit=1)[0] for path in paths if type(path) is str]
    return [path for path in beginnings if path]
