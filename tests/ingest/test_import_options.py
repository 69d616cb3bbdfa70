"""Every option of every `import` changes what is brought, or is refused: none is passed over.
Those of other commands are read, at least, by the function that gets them."""

import dis
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType

import click
import pytest
from click.testing import CliRunner

from gradelake.app import app
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.lakes import copy_of
from tests.projects import USUAL, project

FILES = {
    "topics.tsv": {"q1": "why is the sky blue"},
    "passages.tsv": {"p1": "Air scatters blue light.", "p2": "The sun is a star."},
    "me.qrels": {"q1": {"p1": 1, "p2": 0}},
    "runs/one.run": {"q1": ["p1", "p2"]},
    "judged.csv": [
        {"query": "q1", "passage": "p1", "label": 2, "own": 1, "annotator": "ann"},
        {"query": "q1", "passage": "p2", "label": 0, "own": 1, "annotator": "ann"},
    ],
    "bank.csv": [{"query_id": "q1", "kind": "question", "text": "What scatters?"}],
    "log.jsonl": [
        {
            "question": "why is the sky blue",
            "contexts": ["Air scatters blue light."],
            "answer": "Air does. [1] So it is. [2]",
            "reference": "Air.",
        }
    ],
    "criteria.json": {"('q1', 'p1')": {"exact": 2, "whole": 1}},
    "scores.csv": [{"system": "one", "score": 0.5}],
}
BASE = {
    "labels": ["c", "judged.csv", "--judge", "gpt"],
    "judgments": ["c", "judged.csv", "--assessor", "ann"],
    "bank": ["c", "bank.csv", "--name", "own"],
    "rag": ["c", "log.jsonl"],
    "grades": ["c", "criteria.json", "--name", "llama"],
    "scores": ["c", "scores.csv", "--name", "EXAM", "--measure", "AP"],
}
OPTIONS = {
    "labels": [
        *("--judge=sun", "--max-label=3", "--column=judgment=own", "--column=rater=annotator"),
        *("--only=own=7", "--rows=there[]", "--label=2=1", "--cut=0.5", "--as=trec_qrels"),
    ],
    "judgments": [
        *("--assessor=bob", "--column=judgment=own", "--column=rater=annotator"),
        *("--column=text=own", "--column=judgment=nowhere", "--as=trec_qrels"),
        *("--only=own=7", "--rows=there[]", "--label=2=1", "--cut=0.5"),
    ],
    "bank": ["--name=other", "--format=argue"],
    "rag": [
        "--system=other",
        "--no-marks",
        "--no-references",
        "--column=answer=reference",
        "--only=reference=Sun.",
        "--rows=there[]",
        "--as=trec_run",
    ],
    "grades": [
        *("--rater=paper", "--assessor=ann", "--systems", "--name=gpt", "--trust"),
        *("--grader=gpt", "--model=m", "--kind=nugget", "--scale=0-9", "--format=workbench"),
    ],
    "scores": [
        *("--name=other", "--measure=RR", "--column=score=none", "--rows=there[]"),
        *("--only=system=two", "--as=trec_qrels"),
    ],
}
# of these a file needs rows of an answer that was ingested: tests/end_to_end/test_support_scores.py
ELSEWHERE = {
    "support": ["--assessor", "--as", "--column", "--rows", "--only", "--label"],
    "reviews": [],
}
OF_ALL = {"--json", "--quiet", "--verbose", "--debug", "--help"}
TABLES = (
    *("judgments", "grades", "graders", "rubric_items", "run_entries", "systems", "citations"),
    "imported_scores",
)
WHEN = {"ingested_at", "graded_at", "created_at", "judged_at", "run_id"}


def test_the_list_of_options_is_whole():
    commands = app.get_command(click.Context(app), "import").commands
    for name, command in commands.items():
        stated = OPTIONS.get(name, ELSEWHERE.get(name, []))
        listed = {each.partition("=")[0].replace("--no-", "--") for each in stated}
        known = {each.opts[-1] for each in command.params if isinstance(each, click.Option)}
        assert known - OF_ALL == listed, name


def commands(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), f"{path} {name}".strip())


def layers(function: Callable) -> Iterator[Callable]:
    """A function, those that it wraps, and those that a decorator holds."""
    yield function
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    inner = [getattr(function, "__wrapped__", None), *held]
    for each in {id(one): one for one in inner if isinstance(one, FunctionType)}.values():
        yield from layers(each)


def reads(function: Callable, name: str) -> bool:
    """Whether each function that names a parameter loads it; where none does, it comes in a
    dictionary, which is loaded."""
    naming, in_dictionary = [], False
    for layer in layers(function):
        code = layer.__code__
        loaded = {*code.co_cellvars}
        for step in dis.get_instructions(layer):
            if step.opname.startswith("LOAD_"):
                loaded |= {*step.argval} if isinstance(step.argval, tuple) else {step.argval}
        named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if name in named:
            naming.append(name in loaded)
        takes_more = code.co_flags & inspect.CO_VARKEYWORDS
        place = len(named) + bool(code.co_flags & inspect.CO_VARARGS)
        in_dictionary |= bool(takes_more) and code.co_varnames[place] in loaded
    return all(naming) if naming else in_dictionary


def test_every_option_of_every_command_is_read():
    unread = [
        f"{path} {option.opts[-1]}"
        for path, command in commands(app)
        for option in command.params
        if option.expose_value and not reads(command.callback, str(option.name))
    ]
    assert not unread
    assert not reads(lambda seen, passed_over: seen, "passed_over")


@pytest.fixture(scope="module")
def brought(tmp_path_factory):
    """What a command brings into a lake of its own: its exit code and rows."""
    patch, runner, root = pytest.MonkeyPatch(), CliRunner(), tmp_path_factory.mktemp("lakes")
    project(root / "ingested", {"c": USUAL}, files=FILES)
    patch.chdir(root / "ingested")
    assert runner.invoke(app, ["ingest", "c"]).exit_code == 0

    @cache
    def bring(*words: str):
        folder = root / str(bring.cache_info().misses)
        copy_of(root / "ingested", folder)
        patch.chdir(folder)
        code = runner.invoke(app, ["import", *words]).exit_code
        with Lake.live(Project.read(folder / "gradelake.toml")) as lake:
            rows = {
                table: [
                    {key: value for key, value in row.items() if key not in WHEN}
                    for row in lake.objects(f"from lake.raw.{table} order by all")
                ]
                for table in TABLES
            }
        return code, rows

    yield bring
    patch.undo()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command, options in OPTIONS.items() for option in options],
)
def test_an_option_of_an_import_is_heeded_or_refused(brought, command, option):
    code, rows = brought(command, *BASE[command])
    assert code == 0
    other_code, others = brought(command, *BASE[command], option)
    assert other_code or others != rows, f"{option} is passed over"
