"""A process that stays builds again: `gradelake build --watch`, and `.build` in the shell."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.command_line import gradelake, start
from tests.edits import edit, write_edits
from tests.lakes import own_cache
from tests.sql.terminal import Terminal

pytestmark = pytest.mark.slow

DROPPED = "select count(*) as n from intermediate.rubric_edits where action = 'drop'"


@pytest.fixture
def folder(graded_demo, tmp_path) -> Path:
    return shutil.copytree(graded_demo, tmp_path / "demo")


def drop(folder: Path, n: int) -> None:
    """Save edits that drop the first `n` items of the banks."""
    found = gradelake(
        folder,
        "sql",
        f"select bank, item_id, query_id from raw.rubric_items order by all limit {n}",
        "--format",
        "json",
    )
    write_edits(folder, *(edit(1, "drop", **item) for item in json.loads(found.stdout)))


@pytest.fixture
def watching(folder):
    """`gradelake build --watch --json` in the folder, ended by Ctrl-C."""
    process = start(folder, "build", "--watch", "--json")
    assert "watching" in process.stderr.readline()
    yield process
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130


def built(process: subprocess.Popen) -> str:
    """The release of the next build that it tells of."""
    return json.loads(process.stdout.readline())["release"]


def test_each_saved_seed_and_each_commit_is_built_and_a_wrong_seed_ends_nothing(folder, watching):
    drop(folder, 1)
    assert built(watching) == "r2"
    gradelake(folder, "import", "labels", "demo", "labels/overlap.qrels", "--judge", "overlap")
    assert built(watching) == "r3"
    (folder / "seeds" / "rubric_edits.csv").write_text("no,such,columns\n1,2,3\n")
    assert "rubric_edits.csv" in next(line for line in watching.stderr if "waiting" not in line)
    drop(folder, 2)
    assert built(watching) == "r4"
    shown = gradelake(folder, "sql", DROPPED, "--format", "json")
    assert json.loads(shown.stdout) == [{"n": 2}]


def test_a_shell_builds_and_then_asks_the_new_release(folder, tmp_path):
    with Terminal(folder, XDG_CACHE_HOME=own_cache(tmp_path / "cache")) as shell:
        shell.ask("create temp table mine as select 42 as answer; from temp.mine;", "42")
        drop(folder, 1)
        assert "published release r2" in shell.ask(".build", "release r2")
        assert "nothing changed since r2" in shell.ask(".build", "since r2")
        shell.ask("from temp.mine;", "42")
        shell.ask(f"{DROPPED};", "1")
        assert shell.leave() == 0
