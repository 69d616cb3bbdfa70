"""Lakes that many tests read, and the order of the files of tests."""

import atexit
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import lakes, shared_ray
from tests.grading.vllm_server import vllm_server
from tests.lakes import copy_of, kept, made_once_in
from tests.places import REPOSITORY, missing_dl19

shared_ray.install()
# a lake is many small files, which in memory cost a tenth less of a test's processor time
MEMORY, ROOM = Path("/dev/shm"), 10 << 30
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))
# the files of tests that were collected, before any was left out
COLLECTED = pytest.StashKey[set[Path]]()
# when this run begins no more tests, in seconds since 1970: a machine may be slow
_UNTIL = float(os.environ.get("GRADELAKE_UNTIL", "inf"))
_NOT_REACHED = "not reached in time"
# how long each test took when it last ran, in seconds
_SECONDS = REPOSITORY / "build" / "test_seconds.json"
_spent: Counter[str] = Counter()
# what a test of a dear file takes where it has not run yet; one of any other takes a second
_GUESSED = {
    "tests/analyses/test_reproduction.py": 50,
    "tests/dbt_project/test_models.py": 40,
    "tests/dbt_project/test_plain_dbt.py": 50,
    "tests/documentation/test_judging_pages.py": 25,
    "tests/documentation/test_pages.py": 45,
    "tests/end_to_end/test_changes.py": 40,
    "tests/end_to_end/test_faults.py": 70,
    "tests/end_to_end/test_serve_rubric_browser.py": 20,
    "tests/grading/test_secrets.py": 45,
    "tests/grading/test_vllm_server.py": 20,
    "tests/serve/test_board_addresses.py": 7,
    "tests/serve/test_rubric_pages.py": 8,
    "tests/sql/test_s3.py": 30,
    "tests/test_farthest_user.py": 5,
}


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Begin with the files that take longest, so that two processes end together."""
    config.stash[COLLECTED] = {item.path for item in items}
    yield  # some are left out
    if "GRADELAKE_FAULTS" in os.environ:
        return  # `make campaigns` says the order
    seconds, of_file = _seconds(), Counter()
    for item in items:
        guessed = _GUESSED.get(item.nodeid.partition("::")[0], 1)
        of_file[item.path] += seconds.get(item.nodeid, guessed)
    items.sort(key=lambda item: -of_file[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    if time.time() > _UNTIL:
        pytest.skip(_NOT_REACHED)


def pytest_terminal_summary(terminalreporter):
    """Name what a slow machine left out."""
    skipped = terminalreporter.stats.get("skipped", [])
    left = sorted({one.nodeid for one in skipped if _NOT_REACHED in str(one.longrepr)})
    if left:
        terminalreporter.section(f"{len(left)} tests were not reached in time; `make test-rest`")
        terminalreporter.write_line("\n".join(left))


def pytest_runtest_logreport(report):
    _spent[report.nodeid] += report.duration


def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _SECONDS.parent.mkdir(exist_ok=True)
        _SECONDS.write_text(json.dumps(_seconds() | _spent))


def _seconds() -> dict[str, float]:
    return json.loads(_SECONDS.read_text()) if _SECONDS.exists() else {}


@atexit.register
def _end() -> None:
    """End a process of a test run that imported vLLM before Python takes itself apart: triton would
    tell of all that it did not let go."""
    if "triton" in sys.modules and "PYTEST_XDIST_WORKER" in os.environ:
        os._exit(0)


def made_once(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills, once for all processes of a test run; tests only read it."""
    root = tmp_path_factory.getbasetemp()
    return made_once_in(root.parent if "PYTEST_XDIST_WORKER" in os.environ else root, name, make)


def _copy_of_kept(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    return made_once(tmp_path_factory, name, lambda folder: copy_of(kept(name, make), folder))


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Path:
    """A folder with the demo collection ingested, two judges imported, and a release published."""
    return _copy_of_kept(tmp_path_factory, "demo", lakes.make_demo)


@pytest.fixture(scope="session")
def graded_demo(tmp_path_factory) -> Path:
    """The demo collection with its rubric, graded by the graders without a model; published."""
    return _copy_of_kept(tmp_path_factory, "graded", lakes.make_graded_demo)


@pytest.fixture(scope="session")
def dl19(tmp_path_factory) -> Path:
    """A folder with TREC DL 2019 ingested, three foreign judges imported, a release published."""
    return _of_dl19(tmp_path_factory, "dl19", lakes.make_dl19)


def _of_dl19(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    if reason := missing_dl19():
        pytest.skip(reason)
    return _copy_of_kept(tmp_path_factory, name, make)


@pytest.fixture(scope="session")
def new_lake() -> Callable[[Path], None]:
    """Start a lake in a folder of a test's own."""
    return lakes.start_lake


@pytest.fixture(scope="session")
def served(tmp_path_factory) -> Iterator[str]:
    """The address of vLLM's server, with SmolLM2 as `smol`: one for each process of a test run."""
    with vllm_server(tmp_path_factory.mktemp("vllm")) as address:
        yield address
