"""`gradelake start`: a gradelake.toml of what a folder's files are, tried out by a dry run.

Files and their columns are somebody else's: what is written is read again before it stands.
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from gradelake.ingest.collections.dry_run import DryRun, dry_run
from gradelake.ingest.collections.starter import OF_LOGS
from gradelake.ingest.starting.choosing import Chosen, choose
from gradelake.ingest.starting.looking import Seen, look_at
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, GradelakeError
from gradelake.sql.common.project import CONFIG_NAME, Project, is_name, nearest_name
from gradelake.sql.common.quoting import on_one_line, shell_word, toml_comment, toml_key, toml_value
from gradelake.sql.common.table_text import table_lines, text_columns
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

_OF_OTHERS = {"direct": "umbrela"}  # grader of passages without a rubric, and its prompt
_HEAD = (
    "Made by `gradelake start` from what the files of this folder look like. How each was",
    "understood stands beside it. Look it through.",
)
_WIDTH = 110
_TRIED = 500_000_000  # bytes of files that an ingest is tried with: some ten seconds


@dataclass(frozen=True)
class Started:
    """What `start` wrote, and why; `tried` is what an ingest would do with it, `commands` bring in
    what no setting does."""

    file: Path
    collection: str
    seen: list[Seen]
    commands: dict[str, list[str]]
    tried: DryRun | None
    fault: str = ""
    is_large: bool = False  # so that nothing was tried

    @property
    def exit_code(self) -> int:
        return 0

    def print(self) -> None:
        cells = [
            [on_one_line(text) for text in (seen.shown, seen.taken_for, seen.why)]
            for seen in self.seen
        ]
        for line in table_lines(text_columns(["file", "taken for", "why"], cells), _WIDTH)[0]:
            console.say(line)
        console.say(f"wrote {self.file}")
        if self.tried:
            if brought := self.tried.outcome.counts:
                told = [counted(n, what.replace("_", " ")) for what, n in brought.items()]
                console.say(f"an ingest would bring {', '.join(told)}")
            self.tried.outcome.print_faults()
        if self.fault:
            console.warn(self.fault)
        folder = self.file.parent
        where = "" if folder == Path.cwd() else f"cd {shell_word(folder)} && "
        ingest = f"gradelake ingest {self.collection}"
        steps = [ingest] if self.tried else []
        if self.is_large:
            console.say("these files are large: no ingest was tried")
            steps = [f"{ingest} --dry-run", ingest]
        steps += [step for of_file in self.commands.values() for step in of_file]
        for number, step in enumerate(steps):
            console.hint(f"then: {step}" if number else f"next: {where}{step}")


def start(
    folder: Path, name: str | None = None, presets: Mapping[str, str] | None = None
) -> Started:
    """Write the gradelake.toml of what a folder holds, make an empty lake there, and try an ingest.

    `presets`: those that are stated, by file. Where two are as good, whoever sits at a terminal is
    asked. Raises `BadInput` where there is one, and for a folder of which nothing is sure; then
    nothing is written.
    """
    name = name or nearest_name(folder.resolve().name)
    file = folder / CONFIG_NAME
    if not is_name(name):
        raise BadInput(f"{name!r} cannot be used as a collection's name", "Give one: --name shop.")
    found = _asked(folder, look_at(folder, presets or {}), presets or {})
    if not any(seen.brings for seen in found):
        raise _nothing_is_sure(folder, found)
    chosen = choose(found, name)
    text = _checked_text(name, found, chosen)
    is_there = file.exists()
    if is_there and file.read_bytes() != text.encode():
        raise BadInput(f"{file} already exists", "Edit it, or choose another folder.")
    with whole_file(file) as stream:
        stream.write(text.encode())
    try:
        project = Project.read(file)
        Lake.create(project).close()
    except BaseException:
        if not is_there:
            file.unlink()  # or a second try would refuse because of it
        raise
    done = Started(file, name, found, chosen.commands, None)
    if not any(setting == "queries" for setting, *_ in chosen.settings):
        return done
    if _size(found) > _TRIED:
        return replace(done, is_large=True)
    try:
        return replace(done, tried=dry_run(project, name))
    except GradelakeError as error:
        return replace(done, fault=f"an ingest would fail: {error.message}. {error.hint or ''}")


def _undecided(seen: Seen) -> Seen:
    forms = " or ".join(f"--as {seen.shown}={form}" for form in (seen.form, *seen.others))
    return Seen(seen.shown, f"several forms are as good: say {forms}", sample=seen.sample)


def _size(found: list[Seen]) -> int:
    """Bytes of the files that are used."""
    used = [seen.sample.path for seen in found if seen.brings and seen.sample]
    return sum(path.stat().st_size for path in used)


def _nothing_is_sure(folder: Path, found: list[Seen]) -> BadInput:
    hint = (
        "Topics, passages, runs, judgments and logs are looked for, in the forms of many tools. If "
        "one of these files is such a form, say which: --as FILE=PRESET."
    )
    seen_as = [on_one_line(f"{seen.shown}: {seen.why}") for seen in found[:10]]
    return BadInput(f"{folder}: nothing in it is sure", "\n  ".join([hint, *seen_as]))


def _asked(folder: Path, found: list[Seen], presets: Mapping[str, str]) -> list[Seen]:
    """What was seen, with the answers of whoever sits at a terminal where several forms are as
    good."""
    doubtful = [seen for seen in found if seen.others]
    if not doubtful:
        return found
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return [_undecided(seen) if seen.others else seen for seen in found]
    answers = {
        seen.shown: click.prompt(
            f"{on_one_line(seen.shown)} may be several forms",
            type=click.Choice([str(seen.form), *seen.others]),
            default=seen.form,
        )
        for seen in doubtful
    }
    return look_at(folder, {**presets, **answers})


def _checked_text(name: str, found: list[Seen], chosen: Chosen) -> str:
    """The text of a gradelake.toml. Raises `BadInput` where it does not say what was meant."""
    settings = chosen.settings
    logs = any("rag" in seen.brings for seen in found)
    graders = {
        grader: {"engine": "lexical", "prompt": prompt}
        for grader, prompt in (OF_LOGS if logs else _OF_OTHERS).items()
    }
    meant = {
        "collections": {name: {setting: value for setting, value, _ in settings}},
        "graders": graders,
    }
    try:
        lines = [*map(toml_comment, _HEAD), "", f"[collections.{toml_key(name)}]"]
        for setting in settings:
            lines += _lines(*setting)
        lines += map(toml_comment, _notes(found, chosen))
        real = 'lexical compares words; for a real judge, engine = "openai" and a model'
        lines += ["", toml_comment(real)]
        for grader, table in graders.items():
            lines += ["", f"[graders.{toml_key(grader)}]"]
            lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items()]
        text = "".join(f"{line}\n" for line in lines)
        is_meant = tomllib.loads(text) == meant
    except ValueError:
        is_meant = False
    if not is_meant:
        what = "the names of these files cannot be written into a gradelake.toml"
        raise BadInput(what, "Rename the files whose names hold unusual characters.")
    return text


def _lines(setting: str, value: Any, why: list[str]) -> Iterator[str]:
    """A setting, with a comment to each file that it names."""
    comments = map(toml_comment, why)
    if isinstance(value, list):
        yield f"{setting} = ["
        for each, comment in zip(value, comments, strict=True):
            yield f"    {toml_value(each)},  {comment}"
        yield "]"
    elif setting in ("judgments", "official_ranks"):
        for (name, file), comment in zip(value.items(), comments, strict=True):
            yield f"{setting}.{toml_key(name)} = {toml_value(file)}  {comment}"
    else:
        yield f"{setting} = {toml_value(value)}  {next(comments)}"


def _notes(found: list[Seen], chosen: Chosen) -> Iterator[str]:
    """What comments say of that which no setting names."""
    there = {setting for setting, *_ in chosen.settings}
    if "queries" not in there:
        logs = any("rag" in seen.brings for seen in found)
        missing = 'queries = "topics.tsv"  # no topics were found, and they are needed'
        yield "topics come with the logs below" if logs else missing
    if "judgments" in there:
        yield "min_relevant = 2  # where from judgments count as relevant; without it from 1"
    for seen in found:
        if other := chosen.instead.get(seen.shown):
            yield f"or: {other[0]} = {toml_value(other[1])}  # {seen.why}"
        for command in chosen.commands.get(seen.shown, ()):
            yield f"{seen.shown}: {seen.why}: `{command}`"
        if not seen.brings:
            yield f"{seen.shown} is not used: {seen.why}"
