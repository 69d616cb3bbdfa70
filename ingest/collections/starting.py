"""`gradelake start`: what the files of a folder are, as a gradelake.toml that says how it was seen.

Each file is looked at, not only named: by the columns of a table, or the first lines of a text.
What is not sure stands in a comment; nothing is named that was not understood. Files and their
columns are somebody else's: what is written is read again before it stands.
"""

import glob
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from pathlib import Path
from typing import Any

from gradelake.ingest.collections.trec import system_name
from gradelake.ingest.mapping.columns import columns_of
from gradelake.ingest.mapping.form import names_of
from gradelake.ingest.reading.csv_tables import finite_number
from gradelake.ingest.reading.rows import entries_of, is_table, rows_of
from gradelake.sql.common import console, files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected
from gradelake.sql.common.project import CONFIG_NAME, Project, is_name
from gradelake.sql.common.quoting import on_one_line, shell_word, toml_comment, toml_key, toml_value
from gradelake.sql.common.whole_file import whole_file
from gradelake.sql.lake.opening import Lake

_MOST = 500  # files that are looked at
_LINES = 200  # of a text
_DEPTH = 3  # folders below the one
_RUN = re.compile(r"\S+\s+Q0\s+\S+\s+\S+\s+\S+\s+\S+\s*", re.IGNORECASE)
_QRELS = re.compile(r"\S+\s+\S+\s+\S+\s+-?[0-9]{1,3}\s*")
_PAIR = re.compile(r"[^\t]+\t[^\t]+")
_TOPIC_WORDS = 12  # that a topic has at most, and a passage seldom
# what a table must have to be of a kind, in the order of what tells most
_NEEDS = {
    "rag": {"question", "contexts", "answer"},
    "judgments": {"query", "passage", "judgment"},
    "clicks": {"query", "passage", "position", "clicks"},
    "runs": {"query", "passage", "rank"},
    "passages": {"passage", "text"},
    "responses": {"query", "text"},
    "queries": {"text"},
}
_OF_JUDGES = {"labels", "judges"}  # folders whose judgments are no people's
# graders and their prompts: of passages without a rubric; of logs, as grading/RAG.md has them
_OF_OTHERS = {"direct": "umbrela"}
_OF_LOGS = {"context": "umbrela", "correct": "nuggetizer_assign", "faithful": "support"}
_HEAD = (
    "Made by `gradelake start` from what the files of this folder look like. How each was",
    "understood stands beside it; `gradelake ingest --dry-run` shows it. Look it through.",
)


@dataclass(frozen=True)
class Seen:
    """What a file was seen to be, and how that shows: `kind` is a setting, "rag", "labels" (of a
    judge) or None."""

    shown: str
    kind: str | None
    why: str
    roles: dict[str, str] = field(default_factory=dict)  # role -> column, of a table


def look_at(folder: Path) -> list[Seen]:
    """Every file of a folder, and of those in it, that could be an input."""
    found = []
    for number, path in enumerate(_files(folder)):
        if number == _MOST:
            found.append(Seen("what follows", None, f"only {_MOST} files were looked at"))
            break
        shown = str(path.relative_to(folder))
        if not path.resolve().is_relative_to(folder.resolve()):
            why = "a link that leads out of this folder; name it here yourself if you trust it"
            found.append(Seen(shown, None, why))
            continue
        try:
            seen = _seen(path, shown)
            if seen.kind == "judgments" and {*path.relative_to(folder).parts[:-1]} & _OF_JUDGES:
                seen = replace(seen, kind="labels", why=f"of a judge, by its folder; {seen.why}")
            found.append(seen)
        except Rejected as rejected:
            why = f"{rejected.problems[0].message}; {rejected.hint}"
            found.append(Seen(shown, None, why.rstrip("; ")))
    return found


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in ("lake", "seeds", CONFIG_NAME):
            continue
        if path.is_dir() and depth < _DEPTH:
            yield from _files(path, depth + 1)
        elif path.is_file() and path.stat().st_size:
            yield path


def _seen(path: Path, shown: str) -> Seen:
    if is_table(path, shown, "runs"):
        entries = entries_of(path, shown, names_of("queries") | names_of("passages"))
        texts = [row["text"] for _, row in entries or () if isinstance(row.get("text"), str)]
        if entries and len(texts) == len(entries):
            return _of_texts(shown, texts[:_LINES])
        return _of_columns(path, shown)
    lines = [text for _, text in islice(files.lines_of(path, shown), _LINES)]
    if all(map(_RUN.fullmatch, lines)):
        return Seen(shown, "runs", "a TREC run")
    if all(map(_QRELS.fullmatch, lines)):
        return Seen(shown, "judgments", "TREC qrels")
    if all(map(_PAIR.fullmatch, lines)):
        return _of_texts(shown, lines)
    return Seen(shown, None, "no form that is known here")


def _of_texts(shown: str, texts: list[str]) -> Seen:
    """What a file of ids and their texts is: of topics, which are short, or of passages."""
    words = sorted(len(text.split()) for text in texts)[len(texts) // 2]
    if words <= _TOPIC_WORDS:
        return Seen(shown, "queries", f"ids and short texts, {words} words in the middle")
    return Seen(shown, "passages", f"ids and texts, {words} words in the middle")


def _of_columns(path: Path, shown: str) -> Seen:
    problems = Problems(shown, "")
    row = next((row for _, row in rows_of(path, shown, problems)), {})
    for kind, needed in _NEEDS.items():
        found = columns_of(kind, shown, row)
        if kind == "runs" and "score" in found:
            found.setdefault("rank", found["score"])
        if kind == "passages" and "title" in found and found.get("passage") not in ("id", "_id"):
            needed = {"passage"}  # an id and a title may be a topic, a sku and a title are none
        judgment = finite_number(row.get(found.get("judgment", "")))
        if kind == "judgments" and judgment is not None and not judgment.is_integer():
            continue  # a run's score
        if needed <= found.keys():
            roles = ", ".join(f"{role} = {column}" for role, column in found.items())
            return Seen(shown, kind, roles, found)
    return Seen(shown, None, f"columns {', '.join(row)}")


@dataclass(frozen=True)
class Started:
    """What `start` wrote, and why. `commands` bring in what no setting does, by its file."""

    file: Path
    collection: str
    seen: list[Seen]
    commands: dict[str, str]

    def print(self) -> None:
        for seen in self.seen:
            console.say(on_one_line(f"{seen.shown}: {seen.kind or 'not used'} ({seen.why})"))
        console.say(f"wrote {self.file}")
        folder = self.file.parent
        where = "" if folder == Path.cwd() else f"cd {shell_word(folder)} && "
        logs = [self.commands[seen.shown] for seen in self.seen if seen.kind == "rag"]
        command = logs[0] if logs else f"gradelake ingest {self.collection} --dry-run"
        console.hint(f"next: {where}{command}")
        if any(seen.kind == "labels" for seen in self.seen):
            console.hint(f"then: the `import labels` that {CONFIG_NAME} names, for each judge")


def start(folder: Path, name: str | None = None) -> Started:
    """Write the gradelake.toml of what a folder holds, and make an empty lake there.

    Raises `BadInput` where there is one, and for a folder of which nothing is understood; then
    nothing is written.
    """
    name = name or _as_name(folder.resolve().name)
    file = folder / CONFIG_NAME
    if not is_name(name):
        raise BadInput(f"{name!r} cannot be used as a collection's name", "Give one: --name shop.")
    found = look_at(folder)
    if not any(seen.kind for seen in found):
        hint = "Topics, passages, runs and judgments are looked for, as tables or in TREC's forms."
        seen_as = [on_one_line(f"{seen.shown}: {seen.why}") for seen in found[:10]]
        raise BadInput(f"{folder}: nothing in it is understood", "\n  ".join([hint, *seen_as]))
    names = _names_of(found)
    commands = dict(_commands(found, names, name))
    text = _checked_text(name, found, names, commands)
    is_there = file.exists()
    if is_there and file.read_bytes() != text.encode():
        raise BadInput(f"{file} already exists", "Edit it, or choose another folder.")
    with whole_file(file) as stream:
        stream.write(text.encode())
    try:
        Lake.create(Project.read(file)).close()
    except BaseException:
        if not is_there:
            file.unlink()  # or a second try would refuse because of it
        raise
    return Started(file, name, found, commands)


def _commands(
    found: list[Seen], names: dict[str, str], collection: str
) -> Iterator[tuple[str, str]]:
    for seen in found:
        what = f"{collection} {shell_word(seen.shown)}"
        if seen.kind == "rag":
            own = names[seen.shown]
            of_system = "" if own == system_name(Path(seen.shown)) else f" --system {own}"
            yield seen.shown, f"gradelake import rag {what}{of_system}"
        elif seen.kind == "labels":
            yield seen.shown, f"gradelake import labels {what} --judge {names[seen.shown]}"


def _names_of(found: list[Seen]) -> dict[str, str]:
    """What is called as its file, by the file: assessors, judges, and systems that no column
    names."""

    def of(*kinds: str) -> list[str]:
        return [each.shown for each in found if each.kind in kinds and "system" not in each.roles]

    def stem(path: Path) -> str:
        return path.name.partition(".")[0]

    return {
        **_different(of("judgments"), stem, "official"),
        **_different(of("labels"), stem, "judge"),
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
            file: _as_name("-".join(parts(Path(file)))) or otherwise
            for file in shown
            if file not in names
        }
        how_many = Counter([*tried.values(), *names.values()])
        names |= {file: name for file, name in tried.items() if how_many[name] == 1}
    for file in shown:
        own = _as_name(stem(Path(file))) or otherwise
        numbered = (f"{own}-{number}" for number in count(1))
        if file not in names:
            names[file] = next(name for name in numbered if name not in names.values())
    return names


def _as_name(text: str) -> str:
    """The nearest text that can be used as a name; none where there is none."""
    return re.sub(r"\.\.+", ".", re.sub(r"[^A-Za-z0-9_.+=@-]+", "-", text)).strip("-._+=@")


def _settings(found: list[Seen], names: dict[str, str]) -> Iterator[tuple[str, Any, list[str]]]:
    """(setting, value, why) of the collection; of several files, a why for each."""
    of_kind = {kind: [seen for seen in found if seen.kind == kind] for kind in _NEEDS}
    if not (of_kind["queries"] or of_kind["rag"]):
        yield from _topics_of_others(of_kind)
    for kind in ("queries", "passages", "clicks"):
        for seen in of_kind[kind][:1]:
            yield kind, seen.shown, [seen.why]
    if judged := of_kind["judgments"]:
        by_name = {names[seen.shown]: seen.shown for seen in judged}
        yield "judgments", by_name, [seen.why for seen in judged]
    for kind in ("runs", "responses"):
        if of_kind[kind]:
            patterns = [_pattern(seen.shown, names.get(seen.shown)) for seen in of_kind[kind]]
            yield kind, patterns, [seen.why for seen in of_kind[kind]]


def _topics_of_others(of_kind: dict[str, list[Seen]]) -> Iterator[tuple[str, Any, list[str]]]:
    """Topics from the queries that runs or judgments name, where these are texts."""
    for seen in (*of_kind["judgments"], *of_kind["runs"]):
        if column := seen.roles.get("query"):
            why = "no file of topics: these queries are their own texts"
            yield "queries", {"file": seen.shown, "text": column}, [why]
            return


def _pattern(shown: str, name: str | None) -> str | dict[str, str]:
    """A setting that matches this file alone, and says its system's name where that is another."""
    pattern = glob.escape(shown)
    is_named = name is None or name == system_name(Path(shown))
    return pattern if is_named else {"file": pattern, "name": name or ""}


def _checked_text(
    name: str, found: list[Seen], names: dict[str, str], commands: dict[str, str]
) -> str:
    """The text of a gradelake.toml. Raises `BadInput` where it does not say what was meant."""
    settings = [*_settings(found, names)]
    logs = any(seen.kind == "rag" for seen in found)
    graders = {
        grader: {"engine": "lexical", "prompt": prompt}
        for grader, prompt in (_OF_LOGS if logs else _OF_OTHERS).items()
    }
    meant = {
        "collections": {name: {setting: value for setting, value, _ in settings}},
        "graders": graders,
    }
    try:
        lines = [*map(toml_comment, _HEAD), "", f"[collections.{toml_key(name)}]"]
        for setting in settings:
            lines += _lines(*setting)
        has_topics = any(setting == "queries" for setting, *_ in settings)
        lines += map(toml_comment, _notes(found, commands, has_topics))
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
    elif setting == "judgments":
        for (name, file), comment in zip(value.items(), comments, strict=True):
            yield f"{setting}.{toml_key(name)} = {toml_value(file)}  {comment}"
    else:
        yield f"{setting} = {toml_value(value)}  {next(comments)}"


def _notes(found: list[Seen], commands: dict[str, str], has_topics: bool) -> Iterator[str]:
    """What comments say of that which no setting names."""
    kinds = [seen.kind for seen in found]
    if "rag" in kinds and "queries" not in kinds:
        yield "topics come with the logs below"
    elif not has_topics:
        yield 'queries = "topics.tsv"  # no topics were found, and they are needed'
    for number, seen in enumerate(found):
        if seen.kind in ("queries", "passages", "clicks") and seen.kind in kinds[:number]:
            yield f"or: {seen.kind} = {toml_value(seen.shown)}  # {seen.why}"
        elif seen.shown in commands:
            yield f"{seen.shown}: {seen.why}: `{commands[seen.shown]}`"
        elif seen.kind is None:
            yield f"{seen.shown} is not used: {seen.why}"
