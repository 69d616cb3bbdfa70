"""Lakes that take long to make and that many tests read: kept between runs, in build/lakes.

They are made anew when what makes them changes: the product, their data, DuckDB or dbt. A run of
the tests works on copies, so that what it leaves in the folder of a lake is not there in the next.
"""

import fcntl
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO

from gradelake.sql.build.building import build
from gradelake.sql.build.changes import definitions
from gradelake.sql.build.plan import plan
from gradelake.sql.common.cache import cache_folder
from gradelake.sql.common.files import sha256_of
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake
from tests.command_line import gradelake
from tests.places import DL19, REPOSITORY
from tests.projects import project

DL19_JUDGES = {
    "Question": "QuestionSelfRatedUnanswerablePromptWithChoices",
    "Sun": "Sun",
    "Thomas": "Thomas",
}

KEPT = REPOSITORY / "build" / "lakes"
_LIBRARIES = ("dbt-core", "dbt-duckdb", "duckdb", "polars")
_in_use: list[IO[str]] = []


def made_once_in(root: Path, name: str, make: Callable[[Path], None]) -> Path:
    """A folder in `root` that `make` fills, once for all processes."""
    folder, finished = root / f"{name}-once", root / f"{name}-once.finished"
    with (root / f"{name}-once.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)  # another process failed half-way
            make(folder)
            finished.touch()
    return folder


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that holds a lake and is kept between runs; tests read it and copy it."""
    return made_once_in(_folder(), name, make)


def copy_of(lake: Path, folder: Path) -> None:
    """Copy a folder that holds a lake."""
    shutil.copytree(lake, folder)
    copied = folder / "lake"
    releases = [*copied.glob("releases/*.sqlite")]
    for catalog in (*copied.glob("*.sqlite"), *releases):
        _moved(catalog, copied)
    hashes = [(sha256_of(file), f"releases/{file.name}") for file in releases]
    with closing(sqlite3.connect(copied / "catalog.sqlite")) as connection, connection:
        connection.executemany("update gradelake_files set sha256 = ? where path = ?", hashes)


def own_cache(folder: Path) -> str:
    """A folder for $XDG_CACHE_HOME that has what dbt compiled, which takes half a minute."""
    plan(definitions())
    shutil.copytree(cache_folder(), folder / "gradelake")
    return str(folder)


def start_lake(folder: Path) -> None:
    """Give a new `folder` a lake with nothing in it but what dbt made of nothing, and no release.

    The next build writes a fifth of the models.
    """
    lake = folder / "lake"
    shutil.copytree(kept("empty", _make_empty) / "lake", lake)
    (lake / "published.sqlite").unlink()
    (lake / "releases" / "r0.sqlite").unlink()
    _moved(lake / "catalog.sqlite", lake)


def _make_empty(folder: Path) -> None:
    folder.mkdir()
    (folder / "gradelake.toml").write_text("# nothing\n")
    Lake.create(Project.find(folder)).close()
    build(Project.find(folder), [], [], "r0", of_nothing=True)


def _moved(catalog: Path, lake: Path) -> None:
    with closing(sqlite3.connect(catalog)) as connection, connection:
        connection.execute(
            "update ducklake_metadata set value = ? where key = 'data_path'", [f"{lake}/data/"]
        )


def start_demo(folder: Path) -> None:
    """Make a folder with the demo collection ingested into a started lake."""
    gradelake(folder.parent, "init", str(folder), "--demo")
    shutil.rmtree(folder / "lake")
    start_lake(folder)
    gradelake(folder, "ingest", "demo")


def make_demo(folder: Path) -> None:
    start_demo(folder)
    for judge in ("overlap", "rubric_overlap"):
        gradelake(folder, "import", "labels", "demo", f"labels/{judge}.qrels", "--judge", judge)
    gradelake(folder, "build")


def make_graded_demo(folder: Path) -> None:
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


def make_dl19(folder: Path) -> None:
    # little memory: scores are computed in many slices
    write_dl19_config(folder, lake={"memory_gb": 1})
    start_lake(folder)
    gradelake(folder, "ingest", "dl19")
    for judge, file in DL19_JUDGES.items():
        path = str(DL19 / "labels" / f"{file}.qrels")
        gradelake(folder, "import", "labels", "dl19", path, "--judge", judge)
    gradelake(folder, "build")


@cache
def _folder() -> Path:
    """Where the lakes of this code are kept; those of other code, which nobody reads, go."""
    KEPT.mkdir(parents=True, exist_ok=True)
    folder = KEPT / _state()
    _in_use.append(_locked(folder, fcntl.LOCK_SH))  # until this process ends
    folder.mkdir(exist_ok=True)
    for other in KEPT.iterdir():
        if other.is_dir() and other != folder:
            with suppress(BlockingIOError), _locked(other, fcntl.LOCK_EX | fcntl.LOCK_NB):
                shutil.rmtree(other)
    return folder


def _locked(folder: Path, how: int) -> IO[str]:
    """Lock a folder of lakes until what is returned is closed."""
    lock = folder.with_suffix(".lock").open("w")
    fcntl.flock(lock, how)
    return lock


def _state() -> str:
    """A hash of what makes a lake. Reports and pages are none of it."""
    found = hashlib.sha256()
    for library in _LIBRARIES:
        found.update(f"{library} {version(library)}\n".encode())
    for room in ("sql", "ingest", "grading", "dbt_project"):
        for file in sorted((REPOSITORY / room).rglob("*")):
            by_dbt = {"target", "logs"} & set(file.parts)  # where somebody ran it
            if file.is_file() and file.suffix not in (".md", ".pyc") and not by_dbt:
                found.update(f"{file.relative_to(REPOSITORY)}\n".encode() + file.read_bytes())
    for name in ("lakes.py", "projects.py"):
        found.update((REPOSITORY / "tests" / name).read_bytes())
    for file in sorted(DL19.rglob("*")):
        about = os.stat(file)
        found.update(f"{file} {about.st_size} {about.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]
