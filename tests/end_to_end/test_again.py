"""The same command again ends well: given twice, and after it was killed on its way."""

import shutil
import signal
from hashlib import sha256
from pathlib import Path

import click
import pytest

from gradelake.app import app
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.raw_tables import raw_tables
from gradelake.sql.operations.upkeep.verify import verify
from gradelake.sql.releases import publishing
from tests.command_line import gradelake
from tests.end_to_end.faults.starter import Job, Starter
from tests.grading import workbench_files
from tests.lakes import start_lake
from tests.projects import USUAL, project, write
from tests.tiers import EVERY

SECONDS = 240.0  # of a command
# before and after what lasts: a command killed elsewhere has done nothing more than at one of these
POINTS = ("commits", "has committed", "gives readers a release", "renames a file", "deletes a file")
# what is typed, one command a line: what comes before it, perhaps, and after the `|` what is tried
CASES = {
    "init": "| init new",
    "init --demo": "| init new --demo",
    "start": "| start shop",
    "ingest": "| ingest tiny",
    "import labels": "| import labels tiny nist.qrels --judge j",
    "import judgments": "| import judgments tiny judged.csv --assessor ann",
    "import bank": "| import bank tiny bank.jsonl --name questions",
    "import grades": "| import grades tiny graded.jsonl --systems",
    "import scores": "| import scores tiny scores.csv --name theirs --measure AP",
    "import rag": "| import rag tiny log.jsonl --system v1",
    "system remove": "| system remove tiny one",
    "system rename": "| system rename tiny one other",
    "build": "| build --name third",
    "build of what changed": "import labels tiny nist.qrels --judge j | build --name third",
    "rubric edit": "import bank tiny bank.jsonl --name b; build; sheet | rubric edit --from s.txt",
    "queue add": "| queue add tiny q --from pool --overlap 1 --assessor ann",
    "queue remove": "queue add tiny q --from pool --overlap 1 --assessor ann | queue remove tiny q",
    "assessor add": "| assessor add ann",
    "assessor remove": "assessor add ann | assessor remove ann",
    "release keep": "| release keep first",
    "release keep --undo": "release keep first | release keep first --undo",
    "release drop": "| release drop first",
    "release drop --force": "release keep first | release drop first --force",
    "lake backup": "| lake backup kept",
    "lake restore": "lake backup kept | lake restore kept restored",
    "lake recover": "lose | lake recover --from second",
    "lake copy": "| lake copy other/gradelake.toml",
    "lake tidy": "| lake tidy",
    "schedule": "| schedule --systemd --into units",
    "docs": "| docs",
    "report": "| report",
    "report of another release": "report | report --release first",
    "export qrels": "| export qrels tiny --label-set assessor:nist --output board.qrels",
    "export bank": "import bank tiny bank.jsonl --name b | export bank tiny --name b -o b --live",
}

# one of a kind: the others run in `make campaigns`
USUAL_CASES = ["ingest", "build", "rubric edit", "release drop", "lake recover", "export qrels"]


@pytest.fixture(scope="module")
def ready(tmp_path_factory) -> Path:
    """A project with two releases, `first` and `second`, and files for what is imported."""
    folder = tmp_path_factory.mktemp("again") / "project"
    files = {
        "topics.tsv": ["q1\twhy is the sky blue", "q2\thow do bees find home"],
        "passages.tsv": [f"p{n}\tText of passage {n}." for n in range(1, 6)],
        "nist.qrels": ["q1 0 p1 2", "q1 0 p2 0", "q2 0 p3 1"],
        "runs/one.run": ["q1 Q0 p1 1 2.5 x", "q1 Q0 p2 2 1.5 x", "q2 Q0 p3 1 1 x"],
        "runs/two.run": ["q1 Q0 p2 1 2.5 x", "q2 Q0 p4 1 1 x"],
        "judged.csv": ["query_id,passage_id,judgment", "q1,p1,1"],
        "graded.jsonl": workbench_files.lines(
            q1=[
                workbench_files.paragraph(
                    exam=[workbench_files.rated({"q1/a": 4})],
                    rankings=[workbench_files.ranking("theirs", "p1", 1, 2.5)],
                )
            ]
        ),
        "scores.csv": ["system,score", "one,0.5", "two,0.25"],
        "log.jsonl": [
            {"question": "why is the sky blue", "contexts": ["Air."], "answer": "Because of air."}
        ],
        "bank.jsonl": ['{"query_id": "q1", "items": [{"question_text": "Why blue?"}]}'],
        "shop/topics.tsv": ["q1\twhy is the sky blue", "q2\thow do bees find home"],
        "shop/bm25.run": ["q1 Q0 p1 1 2.5 x", "q1 Q0 p2 2 1.5 x"],
    }
    settings = USUAL | {"judgments": {"nist": "nist.qrels"}}
    project(folder, {"tiny": settings}, files=files)
    start_lake(folder)
    gradelake(folder, "ingest", "tiny")
    gradelake(folder, "build", "--name", "first")
    gradelake(folder, "build", "--name", "second")
    project(folder / "other", {"tiny": settings})
    return folder


def done(folder: Path, line: str) -> None:
    for each in filter(None, map(str.strip, line.split(";"))):
        if each == "lose":
            (folder / "lake" / "catalog.sqlite").unlink()
        elif each == "sheet":
            sheet = gradelake(folder, "rubric", "edit", "q1", "--print").stdout
            write(folder / "s.txt", f"{sheet.rstrip()}\n+ question Who says so?\n")
        else:
            gradelake(folder, *each.split())


def state(folder: Path) -> dict:
    """How much there is of everything, and the releases."""
    there = Project.find(folder)
    with Lake.live(there) as lake:
        tables = raw_tables().keys() - {"pipeline_runs", "ledger", "file_hashes"}
        found = {name: lake.value(f"select count(*) from lake.raw.{name}") for name in tables}
        found["kept"] = lake.column("select release from lake.raw.kept_releases")
        found["releases"] = [each.name for each in publishing.available(there, lake.connection)]
    edits = folder / "seeds" / "rubric_edits.csv"
    found["edits"] = len(edits.read_text().splitlines()) if edits.exists() else 0
    assert verify(there).faults == []
    return found


def files(folder: Path) -> dict[str, str]:
    """The hash of each file that people look at, by its name: of none of a lake or a backup."""
    found = {str(each.relative_to(folder)): each for each in folder.rglob("*") if each.is_file()}
    return {
        name: sha256(each.read_bytes().replace(str(folder).encode(), b".")).hexdigest()
        for name, each in found.items()
        if not {"lake", "kept", "restored"} & set(Path(name).parts)
    }


@pytest.fixture(scope="module")
def starter():
    with Starter({}) as forking:
        yield forking


def ended(starter: Starter, folder: Path, words: list[str]) -> Job:
    job = Job(starter, folder, words)
    code, said = job.end(SECONDS)
    assert code == 0, said
    return job


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES if EVERY else USUAL_CASES)
def test_the_same_command_again_ends_well(ready, starter, tmp_path, case):
    before, _, line = CASES[case].partition("|")
    words = line.split()
    prepared = shutil.copytree(ready, tmp_path / "prepared")
    done(prepared, before)
    once = shutil.copytree(prepared, tmp_path / "once" / "project")
    come = ended(starter, once, words).come()
    expected, written = state(once), files(once)
    ended(starter, once, words)
    assert state(once) == expected, "twice"
    again = files(once)
    assert again.keys() == written.keys(), "twice"
    # a link that is shown once, or the time of day, is another each time
    same = {name for name in written if again[name] == written[name]}
    for point in come.keys() & POINTS:
        for nth in {1, come[point]} if EVERY else {come[point]}:
            folder = shutil.copytree(prepared, tmp_path / "killed" / "project")
            job = Job(starter, folder, words, at=[point, nth])
            assert job.wait((point, nth), SECONDS), f"it does not come to {point}, {nth}"
            job.signal(signal.SIGKILL)
            assert job.end(SECONDS)[0] == -signal.SIGKILL
            ended(starter, folder, words)
            assert state(folder) == expected, f"{point}, {nth}"
            after = files(folder)
            assert after.keys() == written.keys(), f"{point}, {nth}"
            assert {name: after[name] for name in same} == {name: written[name] for name in same}
            shutil.rmtree(folder)


@pytest.mark.slow
def test_who_never_was_there_is_still_no_good_name(ready, tmp_path):
    """What a command finds gone is a mistake where it was not this command that took it away."""
    folder = shutil.copytree(ready, tmp_path / "project")
    for line in (
        "release drop frist",
        "system remove tiny oen",
        "system rename tiny oen other",
        "queue remove tiny q",
        "assessor remove ann",
        "lake restore kept .",
    ):
        gradelake(folder, *line.split(), code=2)
    done(folder, "build --name second")  # nothing changed: it is there
    done(folder, "system remove tiny one; release drop first; release drop first")
    gradelake(folder, "system", "remove", "tiny", "one")
    gradelake(folder, "system", "remove", "tiny", "one", "two", code=2)
    write(folder / "new" / "gradelake.toml", ["# mine"])
    gradelake(folder, "init", "new", code=2)
    gradelake(folder, "init", "new", "--demo", code=2)
    gradelake(folder, "import", "labels", "tiny", "nist.qrels", "--judge", "j")
    assert "there is already a release" in (
        gradelake(folder, "build", "--name", "second", code=2).stderr
    )
    assert "is not lost" in gradelake(folder, "lake", "recover", "--from", "second", code=2).stderr


# commands that are tried with the others of their room: they go on where they were, or write
# nothing but the one file that is named
ELSEWHERE = {
    "check", "compare", "distil", "doctor", "gate", "generate", "grade", "log", "nightly",
    "mcp", "plan", "probe", "prompts", "review", "search", "sentinel", "serve", "sql",
    "stats",
}  # fmt: skip


def test_every_command_that_writes_is_tried():
    tried = {case.split()[0] for case in CASES}
    known = set(app.list_commands(click.Context(app)))
    assert known == tried | ELSEWHERE
