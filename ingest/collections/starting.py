"""`gradelake start`: what the files of a folder are, as a gradelake.toml that says how it was seen.

Each file is looked at, not only named: by the columns of a table, or the first lines of a text.
What is not sure stands in a comment; nothing is named that was not understood.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from shlex import quote

from gradelake.ingest.collections.trec import system_name
from gradelake.ingest.csv_tables import finite_number
from gradelake.ingest.tables.columns import columns_of
from gradelake.ingest.tables.reading import is_table, rows_of
from gradelake.sql.common import console, files
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.problems import Problems, Rejected, named
from gradelake.sql.common.project import CONFIG_NAME, Project, is_name
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


@dataclass(frozen=True)
class Seen:
    """What a file was seen to be, and how that shows: `kind` is a setting, "rag", "labels" (of a
    judge) or None."""

    shown: str
    kind: str | None
    why: str
    roles: dict[str, str] = field(default_factory=dict)  # role -> column, of a table

    def command(self, collection: str) -> str | None:
        """What brings it in, where no setting does."""
        if self.kind == "rag":
            return f"gradelake import rag {collection} {quote(self.shown)}"
        if self.kind == "labels":
            judge = quote(Path(self.shown).name.partition(".")[0])
            return f"gradelake import labels {collection} {quote(self.shown)} --judge {judge}"
        return None


def look_at(folder: Path) -> list[Seen]:
    """Every file of a folder, and of those in it, that could be an input."""
    found = []
    for number, path in enumerate(_files(folder)):
        if number == _MOST:
            found.append(Seen("what follows", None, f"only {_MOST} files were looked at"))
            break
        shown = str(path.relative_to(folder))
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
        return _of_columns(path, shown)
    lines = [text for _, text in islice(files.lines_of(path, shown), _LINES)]
    if all(map(_RUN.fullmatch, lines)):
        return Seen(shown, "runs", f"a TREC run, of system {system_name(path)}")
    if all(map(_QRELS.fullmatch, lines)):
        return Seen(shown, "judgments", "TREC qrels")
    if all(map(_PAIR.fullmatch, lines)):
        words = sorted(len(line.split()) for line in lines)[len(lines) // 2]
        if words <= _TOPIC_WORDS:
            return Seen(shown, "queries", f"ids and short texts, {words} words in the middle")
        return Seen(shown, "passages", f"ids and texts, {words} words in the middle")
    return Seen(shown, None, "no form that is known here")


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
    """What `start` wrote, and why."""

    file: Path
    collection: str
    seen: list[Seen]

    def print(self) -> None:
        for seen in self.seen:
            console.say(f"{named(seen.shown)}: {seen.kind or 'not used'} ({seen.why})")
        console.say(f"wrote {self.file}")
        where = "" if self.file.parent == Path.cwd() else f"cd {self.file.parent} && "
        logs = [seen.command(self.collection) for seen in self.seen if seen.kind == "rag"]
        command = logs[0] if logs else f"gradelake ingest {self.collection} --dry-run"
        console.hint(f"next: {where}{command}")
        if any(seen.kind == "labels" for seen in self.seen):
            console.hint(f"then: the `import labels` that {CONFIG_NAME} names, for each judge")


def start(folder: Path, name: str | None = None) -> Started:
    """Write the gradelake.toml of what a folder holds, and make an empty lake there.

    Raises `BadInput` where there is one, and for a folder of which nothing is understood.
    """
    name = name or re.sub(r"[^A-Za-z0-9._-]+", "-", folder.resolve().name).strip("-._")
    file = folder / CONFIG_NAME
    if file.exists():
        raise BadInput(f"{file} already exists", "Edit it, or choose another folder.")
    if not is_name(name):
        raise BadInput(f"{name!r} cannot be used as a collection's name", "Give one: --name shop.")
    found = look_at(folder)
    if not any(seen.kind for seen in found):
        hint = "Topics, passages, runs and judgments are looked for, as tables or in TREC's forms."
        seen_as = [f"{named(seen.shown)}: {seen.why}" for seen in found[:10]]
        raise BadInput(f"{folder}: nothing in it is understood", "\n  ".join([hint, *seen_as]))
    file.write_text("\n".join(_lines(name, found)) + "\n", encoding="utf-8")
    Lake.create(Project.read(file)).close()
    return Started(file, name, found)


def _lines(name: str, found: list[Seen]) -> Iterator[str]:
    of_kind = {kind: [seen for seen in found if seen.kind == kind] for kind in _NEEDS}
    yield "# Made by `gradelake start` from what the files of this folder look like. How each was"
    yield "# understood stands beside it; `gradelake ingest --dry-run` shows it. Look it through."
    yield ""
    yield f"[collections.{name}]"
    logs = [seen for seen in found if seen.kind == "rag"]
    if not of_kind["queries"]:
        yield from ["# topics come with the logs below"] if logs else _topics_of_others(of_kind)
    for kind in ("queries", "passages", "clicks"):
        for number, seen in enumerate(of_kind[kind]):
            yield f"{'# or: ' * bool(number)}{kind} = {_text(seen.shown)}  # {seen.why}"
    if judged := of_kind["judgments"]:
        for seen in judged:
            yield f"# {seen.shown}: {seen.why}"
        files_by_name = ", ".join(f"{_named(seen)} = {_text(seen.shown)}" for seen in judged)
        yield f"judgments = {{ {files_by_name} }}"
    for kind in ("runs", "responses"):
        if of_kind[kind]:
            yield f"{kind} = ["
            for seen in of_kind[kind]:
                yield f"    {_text(seen.shown)},  # {seen.why}"
            yield "]"
    for seen in found:
        if command := seen.command(name):
            yield f"# {seen.shown}: {seen.why}: `{command}`"
        elif seen.kind is None:
            yield f"# {seen.shown} is not used: {seen.why}"
    for grader, prompt in (_OF_LOGS if logs else _OF_OTHERS).items():
        yield f"\n[graders.{grader}]"
        yield 'engine = "lexical"  # compares words; "openai" and a model for a real judge'
        yield f'prompt = "{prompt}"'


def _topics_of_others(of_kind: dict[str, list[Seen]]) -> Iterator[str]:
    """Topics from the queries that runs or judgments name, where these are texts."""
    for seen in (*of_kind["judgments"], *of_kind["runs"]):
        if column := seen.roles.get("query"):
            stated = f"{{ file = {_text(seen.shown)}, text = {_text(column)} }}"
            yield f"queries = {stated}  # no file of topics: these queries are their own texts"
            return
    yield '# queries = "topics.tsv"  # no topics were found, and they are needed'


def _named(seen: Seen) -> str:
    name = Path(seen.shown).name.partition(".")[0]
    if not is_name(name):
        return "official"
    return name if re.fullmatch(r"[\w-]+", name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
