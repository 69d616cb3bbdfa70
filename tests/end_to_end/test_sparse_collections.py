"""Every command on collections that have only one kind of input: an answer, or what to do."""

import re
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import click
import pytest

import gradelake
from gradelake.app import app
from gradelake.sql.ask.book import entries
from tests.calls import within
from tests.command_line import gradelake as run_well
from tests.command_line import run
from tests.conftest import made_once
from tests.lakes import copy_of, start_lake
from tests.projects import LEXICAL, USUAL, project
from tests.serve.server import Server
from tests.tiers import EVERY

TOPICS = {"q1": "why is the sky blue", "q2": "why is grass green"}
PASSAGES = {f"p{n}": f"passage {n} on the blue sky and green grass" for n in range(4)}
RANKED = {query: [*PASSAGES] for query in TOPICS}
FILES: dict[str, Any] = {
    "topics.tsv": TOPICS,
    "passages.tsv": PASSAGES,
    "me.qrels": {"q1": {"p0": 1, "p1": 0}, "q2": {"p2": 1}},
    "runs/A.run": RANKED,
    "runs/B.run": {query: ranked[::-1] for query, ranked in RANKED.items()},
    "answers.jsonl": [
        {
            "metadata": {"run_id": system, "topic_id": query},
            "responses": [{"text": f"{text} because {system} says so.", "citations": ["p0"]}],
        }
        for system in ("C", "D")
        for query, text in TOPICS.items()
    ],
    "bank.csv": [
        {"query_id": query, "item_id": f"{query}/1", "kind": "question", "text": f"{text}?"}
        for query, text in TOPICS.items()
    ],
    "log.jsonl": [{"question": "why", "answer": "so", "contexts": ["it is"]}],
}
GRADERS = {
    "questions": LEXICAL,
    "direct": {"engine": "lexical", "prompt": "thomas"},
    "supports": {"engine": "lexical", "prompt": "support"},
    "battles": {"engine": "lexical", "prompt": "battle_rubric"},
}
TOPICS_ALONE = dict.fromkeys(USUAL) | {"queries": "topics.tsv"}
# what a collection has -> its settings
KINDS = {
    "topics": TOPICS_ALONE,
    "judged": TOPICS_ALONE | {"judgments": USUAL["judgments"]},
    "runs": TOPICS_ALONE | {"runs": USUAL["runs"]},
    "answers": TOPICS_ALONE | {"responses": "answers.jsonl"},
    "passages": TOPICS_ALONE | {"passages": "passages.tsv"},
    "bank": TOPICS_ALONE,
    "labels": TOPICS_ALONE,
    "ungraded": USUAL | {"responses": "answers.jsonl"},
}
# collections that lack nothing but a build, or all of it
PLACES = {"sparse": [*KINDS], "alone": ["topics"], "unbuilt": ["ungraded"], "nothing": ["topics"]}
# of the commands every n-th, but in `make campaigns`
SOME = {"unbuilt": 9, "alone": 3, "nothing": 2}
GIVEN = {"L": "--label-set=assessor:me", "M": "--measure=nDCG@10", "G": "--grader=questions"}
# the least that each command needs; C is the collection. Those without one are asked once a place
COMMANDS = [
    command.split()
    for command in """
    init there | start . | check C | search C | ingest C | ingest C --dry-run
    import labels C me.qrels --judge k | import bank C bank.csv --name new
    import judgments C me.qrels --assessor you | import support C me.qrels --assessor you
    import rag C log.jsonl | import grades C log.jsonl
    import scores C log.jsonl --name theirs M
    system list C | system remove C A | system rename C A Z
    plan C | grade C G --dry-run | sentinel none | probe C G | generate C G --dry-run
    generate answers C G --dry-run
    distil C --assessor me G --name new
    prompts list | prompts show umbrela | prompts render umbrela --query q --passage p
    prompts sample C --assessor me --per-label 1 --seed 1
    build | docs | sql @ | sql @leaderboard | sql @kappa
    compare C A B | report C | report C --without-rubric | stats overview C
    stats ranks C M L | stats correlation C M | stats significance C M L | stats battles C L
    stats meta C --reference assessor:me M | stats kappa C | stats ceiling C | stats rates C L
    stats alpha C | stats estimate C M L --assessor me | gate C --system A --baseline B M L
    stats confusion C --picture x.svg L | stats scatter C --picture x.svg L M
    stats leaderboard C --picture x.svg M | stats ranks C --picture x.svg L M
    stats correlation C --picture x.svg M | compare C A B --picture x.svg L M
    stats coverage C --picture x.svg L | stats calibration C --picture x.svg G
    stats grades C --picture x.svg G
    export grades C -o x.jsonl | export grades C G --format assignments -o x.jsonl
    export bank C --name b -o x.jsonl | export qrels C L | export track C --public public
    stats agreement C | stats leaderboard C M L | stats correlation-table C M --format html
    stats labels C L --format latex | stats judges C --format markdown
    export qrels C L --sample 2 -o x.csv | export scores C L
    export track C --card questions
    export workbench C bench | export track C --participants parts
    rubric show q1 | rubric edit q1 | rubric preview C | rubric diff 0 1
    review C --assessor me G | queue add C new --assessor me G | queue list C | queue remove C new
    serve --host nowhere.invalid | assessor add ann | assessor list | assessor remove ann
    nightly | schedule --cron | release list | release keep r1 | release drop r1
    release diff r1 r1 | log | lake verify | lake backup saved | lake restore saved there
    lake recover --from r1 | lake copy there.toml | lake tidy | doctor | mcp --help
    """.replace("\n", "|").split("|")
    if command.strip()
]
_INTERNAL = re.compile(r"Traceback|panicked|Run again with --debug|<class|Error: ")
_MISUSED = re.compile(r"error: (No such|Missing|Got unexpected|Name either|give either)")
_NO_ROWS = re.compile(r"([a-z_@0-9]+( {2,}\S+)*\n)?(\(no rows\)\n)?")


def _path(words: list[str]) -> str:
    """A command's own words, of a command line."""
    command, path = app, []
    while isinstance(command, click.Group) and words and words[0] in within(command):
        command, path = within(command)[words[0]], [*path, words[0]]
        words = words[1:]
    return " ".join(path)


def _every(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield " ".join(path)
        return
    for name, each in within(command).items():
        yield from _every(each, (*path, name))


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> Path:
    """A folder that has one of each place of `PLACES`."""
    return made_once(tmp_path_factory, "sparse", _make_places)


def _make_places(root: Path) -> None:
    for place, names in PLACES.items():
        if place == "unbuilt":
            continue
        folder = root / place
        project(folder, {name: KINDS[name] for name in names}, GRADERS, FILES)
        if place == "nothing":
            continue
        start_lake(folder)
        for name in names:
            run_well(folder, "ingest", name)
        if place == "sparse":
            for name in ("bank", "ungraded"):
                run_well(folder, "import", "bank", name, "bank.csv", "--name", "b")
            run_well(folder, "import", "labels", "labels", "me.qrels", "--judge", "j")
            copy_of(folder, root / "unbuilt")
        run_well(folder, "build")


def _wrong(done: CompletedProcess) -> str | None:
    """What is wrong with what a command said; None where nothing is."""
    said = done.stdout + done.stderr
    if _MISUSED.search(said):
        return "not what the command needs"
    if _INTERNAL.search(said):
        return "an internal error"
    if done.returncode == 0 or "error: " not in said:  # a verdict has an exit code, too
        return "no word" if _NO_ROWS.fullmatch(said) else None
    error, _, advice = said.partition("error: ")[2].partition("\n")
    if advice.strip() in ("", "There are none yet.") and "gradelake " not in error:
        return "nothing on what to do"
    return None


def test_the_table_has_every_command():
    assert {_path(words) for words in COMMANDS} == {*_every(app)}


@pytest.mark.parametrize("kind", ["topics", "judged", "answers", "ungraded"])
def test_a_dry_run_of_one_kind_of_input_says_what_it_found(kind, tmp_path):
    project(tmp_path, {"c": KINDS[kind]}, files=FILES)

    said = run_well(tmp_path, "ingest", "c", "--dry-run").stdout

    assert "topics: 2 rows" in said
    assert ("run A: 8 rows" in said) == bool(KINDS[kind]["runs"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "collection"),
    [
        (place, name)
        for place, names in PLACES.items()
        for name in (names if EVERY or place != "sparse" else ["answers"])
    ],
)
def test_every_command_answers_or_says_what_to_do(place, collection, places, tmp_path):
    own, before, wrong = tmp_path / "own", None, []
    some = 1 if EVERY else SOME.get(place, 1)
    for command in COMMANDS[::some]:
        if "C" not in command and collection != PLACES[place][0]:
            continue
        if before is None or _state(own) != before:
            shutil.rmtree(own, ignore_errors=True)
            has_lake = (places / place / "lake").exists()
            (copy_of if has_lake else shutil.copytree)(places / place, own)
            before = _state(own)
        words = [GIVEN.get(word, collection if word == "C" else word) for word in command]
        done = run(own, *words, EDITOR="true")
        if what := _wrong(done):
            said = f"{done.stdout}{done.stderr}"[-600:]
            wrong.append(f"{' '.join(words)}: {what} ({done.returncode})\n{said}")
    assert not wrong, "\n".join(wrong)


def _state(folder: Path) -> dict[Path, int]:
    """What a command that writes leaves otherwise: files, and when each was written."""
    files = [*folder.rglob("*.sqlite"), *folder.glob("*")]
    return {file: file.stat().st_mtime_ns for file in files if file.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("collection", [*KINDS] if EVERY else ["topics"])
def test_every_question_of_the_book_has_an_answer(collection, places):
    with gradelake.open(places / "sparse") as lake:
        for name, entry in entries().items():
            asked = {"collection": collection} if "collection" in entry.parameters else {}
            lake.ask(name, **asked).fetchall()


@pytest.mark.slow
def test_every_page_of_the_server_is_there(places, tmp_path):
    copy_of(places / "sparse", tmp_path / "own")
    with Server(tmp_path / "own") as server:
        op = server.browser("op", "operator")
        for path in ("/", "/people", "/sql", *_pages(KINDS if EVERY else ["topics", "answers"])):
            while (answer := op.get(path)).status_code == 202:
                time.sleep(1)  # its board is being prepared
            said = answer.text
            says_what_to_do = answer.status_code == 400 and "gradelake " in said
            assert answer.status_code == 200 or says_what_to_do, (path, said[-500:])
            assert not _INTERNAL.search(re.sub(r"<script.*?</script>", "", said, flags=re.DOTALL))


def _pages(collections: Iterable[str]) -> Iterator[str]:
    for name in collections:
        yield f"/c/{name}/"
        for page in ("board", "systems", "queries", "queries/q1", "judges", "compare", "grading/"):
            yield f"/c/{name}/{page}"
        for page in ("rubric/", "rubric/q1", "review/", "ask/", "ask/leaderboard"):
            yield f"/c/{name}/{page}"
