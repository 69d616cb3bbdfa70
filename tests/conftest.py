"""Lakes that many tests read: the demo collection, and TREC DL 2019 where its data is at hand."""

import fcntl
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from gradelake.sql.build.build import build
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests import command_line
from tests.grading.vllm_server import vllm_server
from tests.places import DL19, missing_dl19
from tests.projects import LEXICAL, project

DL19_JUDGES = {
    "Question": "QuestionSelfRatedUnanswerablePromptWithChoices",
    "Sun": "Sun",
    "Thomas": "Thomas",
}


def gradelake(folder: Path, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
    """Run the command line in this process; fail with what it printed unless it leaves `code`."""
    done = command_line.run(folder, *map(str, arguments))
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def made_once(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills, once for all processes of a test run; tests only read it."""
    return made_once_in(shared_folder(tmp_path_factory), name, make)


def shared_folder(tmp_path_factory) -> Path:
    """Where `made_once` makes its folders."""
    root = tmp_path_factory.getbasetemp()
    return root.parent if "PYTEST_XDIST_WORKER" in os.environ else root


def made_once_in(root: Path, name: str, make: Callable[[Path], None]) -> Path:
    """The same, where `root` is what `shared_folder` returns."""
    folder, finished = root / f"{name}-once", root / f"{name}-once.finished"
    with (root / f"{name}-once.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)  # another process failed half-way
            make(folder)
            finished.touch()
    return folder


def start_lake(folder: Path, root: Path) -> None:
    """Give a new `folder` a lake with nothing in it but what dbt made of nothing, and no release.

    The next build writes a fifth of the models. `root` is what `shared_folder` returns.
    """

    def make(empty: Path) -> None:
        empty.mkdir()
        (empty / "gradelake.toml").write_text("# nothing\n")
        Lake.create(Project.find(empty)).close()
        build(Project.find(empty), [], [], "r0", of_nothing=True)

    lake = folder / "lake"
    shutil.copytree(made_once_in(root, "empty", make) / "lake", lake)
    (lake / "published.sqlite").unlink()
    (lake / "releases" / "r0.sqlite").unlink()
    with closing(sqlite3.connect(lake / "catalog.sqlite")) as catalog, catalog:  # it has moved
        catalog.execute(
            "update ducklake_metadata set value = ? where key = 'data_path'", [f"{lake}/data/"]
        )


def start_demo(folder: Path) -> None:
    """The same with the demo collection ingested, in a folder beside those of `made_once`."""
    gradelake(folder.parent, "init", str(folder), "--demo")
    shutil.rmtree(folder / "lake")
    start_lake(folder, folder.parent)
    gradelake(folder, "ingest", "demo")


@pytest.fixture(scope="session")
def new_lake(tmp_path_factory) -> Callable[[Path], None]:
    """`start_lake` for a folder of a test's own."""
    return partial(start_lake, root=shared_folder(tmp_path_factory))


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Path:
    """A folder with the demo collection ingested, two judges imported, and a release published."""

    def make(folder: Path) -> None:
        start_demo(folder)
        for judge in ("overlap", "rubric_overlap"):
            gradelake(folder, "import", "labels", "demo", f"labels/{judge}.qrels", "--judge", judge)
        gradelake(folder, "build")

    return made_once(tmp_path_factory, "demo", make)


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[str]:
    """The address of vLLM's server, with SmolLM2 as `smol`: one for each process of a test run."""
    with vllm_server(tmp_path_factory.mktemp("vllm")) as address:
        yield address


@pytest.fixture(scope="session")
def graded_demo(tmp_path_factory) -> Path:
    """The demo collection with its rubric, graded by the graders without a model; published."""
    return made_once(tmp_path_factory, "graded", make_graded_demo)


def make_graded_demo(folder: Path) -> None:
    """The same in a folder of one's own, beside those of `made_once`."""
    start_demo(folder)
    for kind in ("question", "nugget"):
        gradelake(folder, "import", "bank", "demo", f"{kind}_bank.jsonl", "--name", f"{kind}s")
    for grader in ("lexical", "lexical_nuggets", "lexical_direct"):
        gradelake(folder, "grade", "demo", "--grader", grader)
    gradelake(folder, "build")


def write_dl19_config(folder: Path, runs: list[str] | None = None, **settings) -> None:
    """A gradelake.toml for the real collection, reading its files where they are."""
    collection = {
        "queries": DL19 / "topics.tsv",
        "passages": DL19 / "passages.jsonl.gz",
        "judgments": {"nist": DL19 / "qrels.txt"},
        "runs": runs or [DL19 / "runs/*.run.gz"],
        "official_ranks": {"official": DL19 / "official_ranks.json"},
        "min_relevant": 2,
    }
    project(folder, {"dl19": collection}, **settings)


@pytest.fixture(scope="session")
def dl19(tmp_path_factory) -> Path:
    """A folder with TREC DL 2019 ingested, three foreign judges imported, a release published."""
    if reason := missing_dl19():
        pytest.skip(reason)

    def make(folder: Path) -> None:
        # little memory: scores are computed in many slices
        write_dl19_config(folder, lake={"memory_gb": 1})
        start_lake(folder, folder.parent)
        gradelake(folder, "ingest", "dl19")
        for judge, file in DL19_JUDGES.items():
            path = str(DL19 / "labels" / f"{file}.qrels")
            gradelake(folder, "import", "labels", "dl19", path, "--judge", judge)
        gradelake(folder, "build")

    return made_once(tmp_path_factory, "dl19", make)


DL19_RUNS = ("idst_bert_p1", "ICT-BERT2", "UNH_bm25", "test1", "TUA1-1")  # some tie by the thousand


@pytest.fixture(scope="session")
def dl19_planned(tmp_path_factory) -> Path:
    """TREC DL 2019: five of its runs, its questions, a grader without a model; nothing graded."""
    if reason := missing_dl19():
        pytest.skip(reason)

    def make(folder: Path) -> None:
        runs = [f"{DL19}/runs/{name}.run.gz" for name in DL19_RUNS]
        write_dl19_config(folder, runs, graders={"lexical": LEXICAL})
        start_lake(folder, folder.parent)
        gradelake(folder, "ingest", "dl19")
        bank = str(DL19 / "question_bank.jsonl.gz")
        gradelake(folder, "import", "bank", "dl19", bank, "--name", "questions")
        gradelake(folder, "plan", "dl19")

    return made_once(tmp_path_factory, "dl19-planned", make)


@pytest.fixture(scope="session")
def dl19_graded(dl19_planned, tmp_path_factory) -> Path:
    """The same, graded and published."""

    def make(folder: Path) -> None:
        shutil.copytree(dl19_planned, folder)
        gradelake(folder, "grade", "dl19", "--grader", "lexical")
        gradelake(folder, "build")

    return made_once(tmp_path_factory, "dl19-graded", make)
