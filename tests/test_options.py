"""Every option of every command is heeded, or refused with words: none is passed over in silence.

`TABLE` has each command with its options. A command is run without the option and with it, from the
same lake: what is printed, written to files or stored differs, or it ends with exit code 2 and
words. Two runs without the option give the same, so what differs is the option's doing.
"""

import csv
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from gradelake.app import app
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.raw_tables import raw_tables
from tests.calls import within
from tests.command_line import gradelake, run
from tests.conftest import made_once
from tests.lakes import copy_of, kept, make_graded_demo
from tests.option_table import POINTLESS, TABLE
from tests.places import REPOSITORY
from tests.projects import toml, write
from tests.tiers import EVERY

WORDS = {"{L}": "assessor:human", "{A}": "assigns/v0/nuggets", "{prompt}": "question_self_rating"}
# what this lake has nothing for -> the tests that show it
ELSEWHERE = {
    "build --watch": "sql/test_watch.py",
    "distil --seed": "grading/test_distil.py",
    "generate --dry-run": "grading/test_generate.py",
    "grade --reread": "grading/test_grade.py",
    "grade --retry": "grading/test_grade.py",
    "grade --retry-failed": "grading/test_batches.py",
    "rubric edit --yes": "ingest/rubric/test_edit.py",
    "sql --no-pager": "sql/test_pager.py",
}
# options that many commands have from one place, and how each is tried; what says how loud a
# command is, and --live, which reads what these lakes' newest release has, are not
SHARED = (
    {"--json": ""},
    {"--quiet": None, "--verbose": None, "--debug": None},
    {"--release": "none", "--live": None},
    {"--format": "latex", "--output": "o.csv", "--table": "none", "--standalone": ""},
    {"--explain": ""},
    {"--picture": "p.svg", "--width": "3", "--height": "3", "--font-size": "20"},
)
# what comes in is held to its options in tests/ingest/test_import_options.py; the others go on
# until they are stopped, or ask somebody else, and are tried in their rooms
ROOMS = {"import", "mcp", "nightly", "search", "sentinel", "serve"}
MODEL = {"engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
SETTINGS = {
    "collections.many": {
        "queries": "many.tsv",
        "judgments": {"me": "many.qrels"},
        "runs": ["many/*.run"],
    },
    "graders.writer": MODEL | {"prompt": "generate_questions_dl"},
    "graders.other": MODEL | {"prompt": "generate_nuggets_dl"},
    "graders.nuggetizer": MODEL | {"prompt": "nuggetizer_create"},
    "graders.wiki": MODEL | {"prompt": "answer_webpage"},
    "graders.explainer": MODEL | {"prompt": "true_explain"},
    "gates.nightly": {
        "collection": "demo",
        "system": "bm25",
        "baseline": "lsa",
        "baseline_release": "r2",
        "measures": ["AP"],
        "label_set": ["assessor:human"],
    },
}
QUERIES = [f"q{n}" for n in range(20)]  # more than all sign patterns are tried of
MADE = """
import labels demo labels/overlap.qrels --judge overlap
import scores demo scores.csv --name theirs --measure AP
ingest answers
ingest many
import bank answers answers/nugget_bank.jsonl --name nuggets
import bank answers answers/criteria.jsonl --name criteria
grade answers --grader assigns --grader supports --grader battles
queue add demo first --grader lexical --size 9 --overlap 1 --assessor ann
assessor add eve
build
release keep r2
export qrels demo --label-set judge:overlap --sample 60 -o pairs.csv
export qrels demo --label-set judge:overlap --sample 6 --unit query -o queries.csv
"""
# one of a kind: the others are tried in `make campaigns`
USUAL = {"sql", "rubric show", "stats agreement", "stats confusion", "export track", "system list"}
_UNSTEADY = re.compile(
    r"\d+(\.\d+)? ?(ms|s|min|h)\b|\d{4}-\d\d-\d\d[ T][\d:.]+|\d+ pairs/s|#[\w-]{20,}|[0-9a-f]{64}"
)
_OF_RUNS = {"pipeline_runs", "ledger", "file_hashes", "grading_runs"}
_WHEN = re.compile(r"_at$|^run_id$|seconds$|^chunk_id$")


def _commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, each in within(command).items():
        yield from _commands(each, f"{path} {name}".strip())


KNOWN = dict(_commands(app))


def _rows(table: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(command, what it is given at least, its options) of a table."""
    for line in table.replace("\n    ", " ").strip().splitlines():
        for word, meant in WORDS.items():
            line = line.replace(word, meant)
        base, _, options = line.partition("|")
        words = shlex.split(base)
        path = words[0] if words[0] in KNOWN else " ".join(words[:2])
        yield path, words, [each.strip() for each in options.split(";")]


ROWS, REFUSED = list(_rows(TABLE)), list(_rows(POINTLESS))


def _own(command: click.Command) -> set[str]:
    names = {max(each.opts, key=len) for each in command.params if isinstance(each, click.Option)}
    return names - _shared(command).keys()


def _shared(command: click.Command) -> dict[str, str | None]:
    names = {name for each in command.params for name in each.opts}
    sets = [shared for shared in SHARED if shared.keys() <= names]
    return {name: value for shared in sets for name, value in shared.items()}


def test_the_table_has_every_option_of_every_command():
    listed: dict[str, set[str]] = {}
    for path, _, options in (*ROWS, *REFUSED):
        listed.setdefault(path, set()).update(each.partition("=")[0] for each in options)
        listed[path].update(f"-{each}" for each in options if each[:2].lstrip("-"))
    missing = {
        f"{path} {option}"
        for path, command in KNOWN.items()
        if path.split()[0] not in ROOMS
        for option in _own(command) - listed.get(path, set())
    }
    assert missing == ELSEWHERE.keys()
    for option, file in ELSEWHERE.items():
        said = (REPOSITORY / "tests" / file).read_text()
        assert option.split()[-1] in said or option.split("--")[1].replace("-", "_") in said


@pytest.fixture(scope="module")
def ready(tmp_path_factory) -> Path:
    """The graded demo, with something of all that options are about."""
    return made_once(tmp_path_factory, "options", _make)


def _make(folder: Path) -> None:
    copy_of(kept("graded", make_graded_demo), folder)
    with (folder / "gradelake.toml").open("a") as settings:
        settings.write(toml(SETTINGS))
    write(folder / "shop" / "topics.tsv", ["q1\twhy is the sky blue", "q2\thow do bees fly"])
    write(folder / "scores.csv", ["system,score", "bm25,0.5", "lsa,0.25"])
    write(folder / "many.tsv", {query: f"query {query}" for query in QUERIES})
    write(folder / "many.qrels", {query: {"a": 1, "b": 0, "c": 1} for query in QUERIES})
    for system, orders in {"A": ("abc", "bac", "acb"), "B": ("bac", "bca")}.items():
        ranked = {query: orders[n * n % len(orders)] for n, query in enumerate(QUERIES)}
        write(folder / "many" / f"{system}.run", {query: [*of] for query, of in ranked.items()})
    for line in MADE.strip().splitlines():
        gradelake(folder, *shlex.split(line))
    gradelake(folder, "review", "demo", "--grader", "lexical", "--assessor", "ann", given="a\nq\n")
    for who, file in (("ann", "pairs.csv"), ("bob", "queries.csv")):
        _judge(folder / file)
        gradelake(folder, "import", "judgments", "demo", file, "--assessor", who)
    gradelake(folder, "build")
    sheet = gradelake(folder, "rubric", "edit", "sourdough-sour-rise", "--print").stdout
    write(folder / "sheet.txt", f"{sheet.rstrip()}\n+ question Who says so?\n")
    preview = gradelake(folder, "rubric", "preview", "demo", "--from", "sheet.txt", "--json")
    write(folder / "preview.json", preview.stdout)


def _judge(sheet: Path) -> None:
    """Fill a sample in, as somebody would who gives the labels 0, 1 and 2 in turn."""
    with sheet.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(row | {"judgment": n % 3} for n, row in enumerate(rows))


class Lakes:
    """Copies of a folder, a new one where a command has changed the last."""

    def __init__(self, ready: Path, root: Path):
        self._ready, self._root, self._n = ready, root, 0
        self._folder = ready
        self._before: dict[Path, int] = {}

    def did(self, words: list[str]) -> tuple[int, str, tuple[Any, ...]]:
        """What a command did: its exit code, what it said of what was wrong, and the rest."""
        if not self._before or self._state() != self._before:
            self._n += 1
            self._folder = self._root / str(self._n)
            copy_of(self._ready, self._folder)
            self._before = self._state()
        before = self._before
        done = run(self._folder, *words, given="s\nq\n", EDITOR="true")
        now = self._state()
        changed = sorted(file for file in now if now[file] != before.get(file))
        # dbt's documentation says when it was written, in many places
        files = {f: f.name != "docs.html" and _steady(f.read_bytes()) for f in changed}
        files = {f: content for f, content in files.items() if "lake" not in f.parts}
        stored = self._stored() if any(f.is_relative_to(self._lake) for f in changed) else ()
        named = {str(file.relative_to(self._folder)): content for file, content in files.items()}
        said = done.stdout.replace(str(self._folder), ".")
        return done.returncode, done.stderr, (_steady(said.encode()), named, stored)

    @property
    def _lake(self) -> Path:
        return self._folder / "lake"

    def _state(self) -> dict[Path, int]:
        files = [file for file in self._folder.rglob("*") if file.is_file()]
        return {file: file.stat().st_mtime_ns for file in files if file.suffix != ".lock"}

    def _stored(self) -> tuple[Any, ...]:
        with Lake.live(Project.find(self._folder)) as lake:
            return tuple(
                lake.value(f"select bit_xor(hash({columns})) from lake.raw.{name}")
                for name, table in raw_tables().items()
                if name not in _OF_RUNS
                and (columns := ", ".join(c for c in table.types if not _WHEN.search(c)))
            )


def _steady(said: bytes) -> str:
    return _UNSTEADY.sub("~", said.decode(errors="backslashreplace"))


def _with(path: str, words: list[str], option: str) -> list[str]:
    """The words with an option, which takes the place of its other value; `-NAME` is without it."""
    name, _, value = option.partition("=")
    is_away = not name.startswith("--") and len(name) > 2
    name = f"-{name}" if is_away else name
    if not (found := [each for each in KNOWN[path].params if name in each.opts]):
        return [*words, name, value]  # of a question of the book
    (known,) = found
    n_values = 0 if getattr(known, "is_flag", False) else known.nargs
    words = list(words)
    for each in known.opts:
        while each in words:
            del words[words.index(each) : words.index(each) + 1 + n_values]
    given = value.split(maxsplit=n_values - 1) if n_values > 1 else [value] * n_values
    return words if is_away else [*words, max(known.opts, key=len), *given]


@pytest.mark.slow
def test_an_option_that_means_nothing_is_refused_by_its_name(ready, tmp_path):
    lakes, wrong = Lakes(ready, tmp_path), []
    for path, words, options in REFUSED:
        for option in options:
            code, said, did = lakes.did(_with(path, words, option))
            error = said.partition("error: ")[2]
            words_of_name = option.partition("=")[0].strip("-").split("-")
            is_named = all(word.removesuffix("s") in error for word in words_of_name)
            if code != 2 or not is_named or did != ("", {}, ()):
                wrong.append(f"{' '.join(words)} {option}: {code} {did[0]}{said}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "words", "options"),
    [pytest.param(*row, id=" ".join(row[1])) for row in ROWS if EVERY or row[0] in USUAL],
)
def test_an_option_is_heeded_or_refused(path, words, options, ready, tmp_path):
    lakes, passed_over, plain = Lakes(ready, tmp_path), [], None
    shared = [
        f"{name}={value}" for name, value in _shared(KNOWN[path]).items() if value is not None
    ]
    for option in (*options, *shared):
        code, said, did = lakes.did(_with(path, words, option))
        if code == 2 and "error: " in said and "--debug" not in said:
            continue
        if plain is None:
            plain = lakes.did(words)
            again = lakes.did(words)
            assert again[::2] == plain[::2], f"not the same twice: {plain}, {again}"
            assert plain[0] != 2 or not code, plain[1]
        if (code, did) == plain[::2]:
            passed_over.append(f"{option} ({code})")
    assert not passed_over, passed_over
