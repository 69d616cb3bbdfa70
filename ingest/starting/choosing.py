"""What gradelake.toml says of a folder's files: settings, each with why, and commands for the
rest."""

import glob
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from gradelake.ingest.collections.trec import system_name
from gradelake.ingest.mapping.columns import columns_of
from gradelake.ingest.mapping.form import File
from gradelake.ingest.mapping.paths import value_at
from gradelake.ingest.starting.looking import Seen
from gradelake.sql.common.project import is_name, nearest_name
from gradelake.sql.common.quoting import shell_word

_TOGETHER = 3  # so many runs beside each other are one pattern
_SPLITS = ("test", "dev", "validation", "val", "train")  # of one data set, in order of use
_HOW_TO_READ = ("table", "rows", "only", "columns", "delimiter", "lines", "short_rows")
_MODELS = 20  # judges that one table may name


@dataclass(frozen=True)
class Chosen:
    """Settings of a collection: (setting, value, a why for each file); commands that bring in what
    no setting does, by file; and what could be used instead, by file."""

    settings: list[tuple[str, Any, list[str]]]
    commands: dict[str, list[str]]
    instead: dict[str, tuple[str, Any]]


def choose(found: list[Seen], collection: str) -> Chosen:
    """What to write of the files that were seen."""
    names = names_of(found)
    instead: dict[str, tuple[str, Any]] = {}
    settings = list(_settings(found, names, instead))
    commands = {
        seen.shown: each for seen in found if (each := list(_commands(seen, names, collection)))
    }
    return Chosen(settings, commands, instead)


def _settings(
    found: list[Seen], names: dict[str, str], instead: dict[str, tuple[str, Any]]
) -> Iterator[tuple[str, Any, list[str]]]:
    of_kind = {
        kind: [seen for seen in found if kind in seen.brings]
        for kind in ("queries", "passages", "clicks", "judgments", "runs", "responses", "rag")
    }
    topics = sorted(of_kind["queries"], key=_is_by_the_way)
    if topics:
        yield "queries", _file(topics[0], "queries"), [topics[0].why]
    elif not of_kind["rag"]:
        yield from _topics_of_others(of_kind)
    for seen in topics[1:]:
        instead[seen.shown] = ("queries", _file(seen, "queries"))
    passages = of_kind["passages"]
    if passages:
        each = [_file(seen, "passages") for seen in passages]
        yield "passages", each[0] if len(each) == 1 else each, [seen.why for seen in passages]
    for seen in of_kind["clicks"][:1]:
        yield "clicks", _file(seen, "clicks"), [seen.why]
    for seen in of_kind["clicks"][1:]:
        instead[seen.shown] = ("clicks", _file(seen, "clicks"))
    if judged := _one_split(of_kind["judgments"], instead, names):
        files = {names[seen.shown]: _file(seen, "judgments") for seen in judged}
        yield "judgments", files, [seen.why for seen in judged]
    for kind in ("runs", "responses"):
        if of_kind[kind]:
            yield (kind, *_patterns(of_kind[kind], kind, names))
    for seen in [each for each in found if "official_ranks" in each.brings][:1]:
        yield "official_ranks", {"official": seen.shown}, [seen.why]


def _is_by_the_way(seen: Seen) -> tuple[bool, int]:
    """Files of topics alone come before those that name queries beside what they are for."""
    return len(seen.brings) > 1, not re.search("topic|quer", Path(seen.shown).name.lower())


def _file(seen: Seen, kind: str) -> Any:
    """A file as a setting has it: its name, or a table with what is said of it."""
    settings = seen.brings[kind]
    return {"file": seen.shown, **settings} if settings else seen.shown


def _topics_of_others(of_kind: dict[str, list[Seen]]) -> Iterator[tuple[str, Any, list[str]]]:
    """Topics from the queries that runs or judgments name, where these are texts."""
    for kind in ("judgments", "runs"):
        for seen in of_kind[kind]:
            settings = dict(seen.brings[kind])
            column = settings.get("query") or seen.roles.get("query")
            if column:
                rows = {key: settings[key] for key in _HOW_TO_READ if key in settings}
                file = {"file": seen.shown, **rows, "text": column}
                if _has_ids(seen, file):
                    file["query"] = False
                why = "no file of topics: these queries are their own texts"
                yield "queries", file, [why]
                return


def _has_ids(seen: Seen, settings: dict[str, Any]) -> bool:
    """Whether rows have ids, of something else, that could be taken for those of topics."""
    rows = seen.sample.rows(settings.get("rows")) if seen.sample else []
    return bool(rows) and "query" in columns_of("queries", File(seen.shown, settings), rows[0])


def _one_split(
    judged: list[Seen], instead: dict[str, tuple[str, Any]], names: dict[str, str]
) -> list[Seen]:
    """The one of several splits of judgments of a data set that is for tests; the others can be
    used instead."""
    by_split = {
        split: seen
        for seen in judged
        for split in _SPLITS
        if split in re.split(r"[^a-z]+", Path(seen.shown).name.lower())
    }
    if len(by_split) < 2:
        return judged
    kept = next(split for split in _SPLITS if split in by_split)
    left = [seen for split, seen in by_split.items() if split != kept]
    for seen in left:
        instead[seen.shown] = (f"judgments.{names[seen.shown]}", _file(seen, "judgments"))
    return [seen for seen in judged if seen not in left]


def _patterns(seen: list[Seen], kind: str, names: dict[str, str]) -> tuple[list[Any], list[str]]:
    """Patterns of files: one for those that stand together and are alike."""
    groups: dict[str, list[Seen]] = {}
    for each in seen:
        path = Path(each.shown)
        is_plain = not each.brings[kind] and names.get(each.shown, "") in ("", system_name(path))
        ending = "".join(path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:])
        folder = glob.escape(str(path.parent))
        pattern = f"{folder}/*{glob.escape(ending)}" if is_plain and folder != "." else each.shown
        groups.setdefault(pattern, []).append(each)
    values, whys = [], []
    for pattern, alike in groups.items():
        if len(alike) >= _TOGETHER and pattern != alike[0].shown:
            values.append(pattern)
            whys.append(f"{len(alike)} files, such as {alike[0].shown}: {alike[0].why}")
            continue
        for each in alike:
            values.append(_pattern(each, kind, names.get(each.shown)))
            whys.append(each.why)
    return values, whys


def _pattern(seen: Seen, kind: str, name: str | None) -> Any:
    """A setting that matches this file alone, and says its system's name where that is another."""
    settings = dict(seen.brings[kind])
    if name is not None and name != system_name(Path(seen.shown)):
        settings["name"] = name
    pattern = glob.escape(seen.shown)
    return {"file": pattern, **settings} if settings else pattern


def _commands(seen: Seen, names: dict[str, str], collection: str) -> Iterator[str]:
    """The imports of a file."""
    what = f"{collection} {shell_word(seen.shown)}"
    form = f" --as {seen.form}" if seen.form and any(seen.brings.values()) else ""
    if "rag" in seen.brings:
        own = names.get(seen.shown)  # none, where the file names its systems
        is_usual = own in (None, system_name(Path(seen.shown)))
        named = "" if is_usual else f" --system {own}"
        yield f"gradelake import rag {what}{named}{form}"
    if "bank" in seen.brings:
        yield f"gradelake import bank {what} --name {names[seen.shown]}"
    if "labels" in seen.brings:
        column = seen.brings["labels"].get("judge")
        judges = _values(seen, str(column)) if column else []
        for judge in judges[:_MODELS]:
            only = f" --only {shell_word(f'{column}={judge}')}"
            yield f"gradelake import labels {what} --judge {nearest_name(judge)}{form}{only}"
        if not judges:
            yield f"gradelake import labels {what} --judge {names[seen.shown]}{form}"


def _values(seen: Seen, column: str) -> list[str]:
    sample = seen.sample
    rows = sample.rows(seen.brings["labels"].get("rows")) if sample else []
    found = dict.fromkeys(str(value) for row in rows if (value := value_at(row, column)))
    return [value for value in found if is_name(nearest_name(value))]


def names_of(found: list[Seen]) -> dict[str, str]:
    """What is called as its file, by the file: assessors, judges, and systems that no column
    names."""

    def of(*kinds: str) -> list[str]:
        return [
            seen.shown
            for seen in found
            if "system" not in seen.roles
            and any(
                kind in kinds and "system" not in settings for kind, settings in seen.brings.items()
            )
        ]

    def stem(path: Path) -> str:
        return path.name.partition(".")[0]

    return {
        **_different(of("judgments"), stem, "official"),
        **_different(of("labels"), stem, "judge"),
        **_different(of("bank"), stem, "bank"),
        **_different(of("runs", "responses", "rag"), system_name, "system"),
    }


def _different(shown: list[str], stem: Callable[[Path], str], otherwise: str) -> dict[str, str]:
    """A name for each file, none of them twice: its own, or else with the folder before it, or with
    all folders, or with its ending, or a number."""
    longer: list[Callable[[Path], tuple[str, ...]]] = [
        lambda path: (stem(path),),
        lambda path: (path.parent.name, stem(path)),
        lambda path: (*path.parent.parts, stem(path)),
        lambda path: path.with_name(path.name.replace(".", "-")).parts,
    ]
    names: dict[str, str] = {}
    for parts in longer:
        tried = {
            file: nearest_name("-".join(parts(Path(file)))) or otherwise
            for file in shown
            if file not in names
        }
        how_many = Counter([*tried.values(), *names.values()])
        names |= {file: name for file, name in tried.items() if how_many[name] == 1}
    for file in shown:
        own = nearest_name(stem(Path(file))) or otherwise
        numbered = (f"{own}-{number}" for number in count(1))
        if file not in names:
            names[file] = next(name for name in numbered if name not in names.values())
    return names
