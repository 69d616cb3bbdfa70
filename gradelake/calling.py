"""The commands of a group as functions: `lake.stats.ranks("dl19", measure="AP", ...)`.

A function takes what its command takes and nothing else is written for it, so a new command is one
at once. What is given becomes the words that people would type: the command checks it, has its
defaults, and raises what it would print.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from keyword import iskeyword
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import duckdb

from gradelake.ingest.collections.frames import frame_of
from gradelake.sql.ask import question
from gradelake.sql.common import console
from gradelake.sql.common.command_line import called_from_python
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project
from gradelake.sql.common.results import as_object
from gradelake.sql.lake.connection import open_duckdb

_UNASKED = {"as_json", "release"}  # results are objects; the release is the lake's
_FORMS = {"bank": "csv", "grades": "jsonl"}  # what an import reads; of others Parquet


class Result(dict[str, Any]):
    """What a command prints with `--json`, and its lists of objects as relations."""

    def rows(self, name: str | None = None) -> duckdb.DuckDBPyRelation:
        """A list of objects as a relation, to be read by `.pl()`, `.df()` or `.fetchall()`.

        `name` says which where there are several; one that is within the objects of another comes
        with their other values. Raises `BadInput` where there is none of the name.
        """
        import polars as pl

        lists = _lists(self)
        chosen = next(iter(lists)) if name is None and len(lists) == 1 else name
        if chosen not in lists:
            known = f"It has {', '.join(lists)}." if lists else "It has no rows."
            raise BadInput(f"no rows of the name {name!r}" if name else "which rows?", known)
        frame = pl.from_dicts(lists[chosen], infer_schema_length=None)
        rows = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        return open_duckdb().from_arrow(rows)


def _lists(found: dict[str, Any], beside: dict[str, Any] | None = None) -> dict[str, list[dict]]:
    lists: dict[str, list[dict]] = {}
    for name, value in found.items():
        if not isinstance(value, list) or not value or not isinstance(value[0], dict):
            continue
        lists.setdefault(name, [])
        for row in value:
            within = {key for key, each in row.items() if isinstance(each, list)}
            outer = {key: each for key, each in row.items() if key not in within}
            lists[name].append({**(beside or {}), **row})
            for key, rows in _lists(row, {**(beside or {}), **outer}).items():
                lists.setdefault(key, []).extend(rows)
    return lists


class Commands:
    """A group's commands as functions, and the groups within it; `dir` and `help` name them."""

    def __init__(self, group: click.Group, path: list[str], project: Project, release: Callable):
        """`path`: how people type the group; `release`: names the one that is read."""
        self._group, self._path, self._of = group, path, (project, release)

    def __getattr__(self, name: str) -> Any:
        typed = name.rstrip("_").replace("_", "-")
        if not (command := self._group.get_command(click.Context(self._group), typed)):
            raise AttributeError(f"there is no command `gradelake {' '.join(self._path)} {typed}`")
        return called(command, [*self._path, typed], *self._of)

    def __dir__(self) -> list[str]:
        names = self._group.list_commands(click.Context(self._group))
        return [name.replace("-", "_") for name in names]

    def __repr__(self) -> str:
        return f"<gradelake {' '.join(self._path)}: {', '.join(dir(self))}>"


def called(command: click.Command, path: list[str], project: Project, release: Callable) -> Any:
    """A command as a function with its docstring and signature; a group as `Commands`."""
    if isinstance(command, click.Group):
        return Commands(command, path, project, release)
    known = {name_of(each): each for each in command.params if each.expose_value}
    known = {name: each for name, each in known.items() if each.name not in _UNASKED}
    known = dict(sorted(known.items(), key=lambda one: not isinstance(one[1], click.Argument)))
    signature = inspect.Signature([*map(_parameter, known, known.values()), _PROGRESS])

    def function(*given: Any, progress: bool = False, **asked: Any) -> Result:
        values = signature.bind(*given, **asked).arguments
        with TemporaryDirectory() as folder:
            for name, parameter in known.items():
                if isinstance(parameter.type, click.Path) and name in values:
                    values[name] = _as_file(values[name], Path(folder), command.name or "")
            words = words_of(known, values)
            if any(each.name == "release" for each in command.params) and not values.get("live"):
                words.append(f"--release={release()}")
            found, text = _invoked(command, path, words, project, progress)
            if str(found.get("file", "")).startswith(f"{folder}/"):
                del found["file"]
        prints = getattr(known.get("output"), "default", None) == "-" and not values.get("output")
        return Result(found, text=text) if prints and text else Result(found)

    function.__name__ = function.__qualname__ = path[-1]
    function.__doc__ = _doc(command, known)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _invoked(
    command: click.Command, path: list[str], words: list[str], project: Project, progress: bool
) -> tuple[dict[str, Any], str]:
    """What a command returns, as an object, and what it writes to standard output."""
    printed = TextIOWrapper(BytesIO(), "utf-8")
    try:
        parent = click.Context(command, obj=lambda: project)  # as that of the whole command line
        with (
            command.make_context(" ".join(path), [*words], parent) as context,
            called_from_python([*path, *words]),
            console.quietly(not progress),
            redirect_stdout(printed),
        ):
            found = question.in_words(lambda: command.invoke(context), ours=True)
            printed.flush()
    except click.ClickException as error:
        raise BadInput(error.format_message()) from None
    return console.plain(as_object(found)) or {}, printed.buffer.getvalue().decode()


_PROGRESS = inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=False)


def name_of(parameter: click.Parameter) -> str:
    """How Python says a parameter: an option as it is typed, `label_set`; `as_` for --as."""
    long = [each for each in parameter.opts if each.startswith("--")]
    name = long[0][2:].replace("-", "_") if long else str(parameter.name)
    return f"{name}_" if iskeyword(name) else name


def _parameter(name: str, option: click.Parameter) -> inspect.Parameter:
    is_argument = isinstance(option, click.Argument)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if is_argument else _PROGRESS.kind
    default = inspect.Parameter.empty if option.required else option.to_info_dict().get("default")
    return inspect.Parameter(name, kind, default=default)


def words_of(known: Mapping[str, click.Parameter], values: Mapping[str, Any]) -> list[str]:
    """What people would type for the values of parameters."""
    return [word for name, each in known.items() for word in _words(each, values.get(name))]


def _words(parameter: click.Parameter, value: Any) -> list[str]:
    """What people would type for a value; nothing for None, and for what a flag is without."""
    if value is None or value == ():
        return []
    if isinstance(parameter, click.Argument):
        return [str(value)]
    option, *_ = (each for each in parameter.opts if each.startswith("-"))
    if isinstance(value, bool):
        return [option] if value else parameter.secondary_opts[:1]
    if parameter.nargs > 1:
        every = value if parameter.multiple else [value]
        return [word for one in every for word in (option, *map(str, one))]
    if isinstance(value, dict):
        value = [f"{key}={each}" for key, each in value.items()]
    several = value if parameter.multiple and not isinstance(value, str) else [value]
    return [f"{option}={each}" for each in several]


def _as_file(value: Any, folder: Path, command: str) -> Any:
    """A frame as the file that a command reads; what names a file as it is."""
    if value is None or isinstance(value, str | PathLike):
        return value
    form, frame = _FORMS.get(command, "parquet"), frame_of(value, command)
    file = folder / f"frame.{form}"
    write: dict[str, Callable[[Path], Any]] = {
        **{"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}
    }
    write[form](file)
    return file


def _doc(command: click.Command, known: dict[str, click.Parameter]) -> str:
    helps = {name: getattr(each, "help", None) for name, each in known.items()}
    listed = "\n".join(f"  {name}: {said}" for name, said in helps.items() if said)
    text = inspect.cleandoc(re.sub(" *\b\n", "", command.help or ""))
    return f"{text}\n\nOptions, None standing for the default:\n{listed}"
