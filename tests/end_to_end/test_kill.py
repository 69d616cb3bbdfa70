"""kill -9 at random moments: nothing is lost, nothing is doubled, the next run completes."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.command_line import run_apart
from tests.conftest import gradelake

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("GRADELAKE_KILLS", "2"))


def content(folder) -> dict[str, list]:
    """Everything of a published lake that does not depend on when it was written."""
    tables = {
        "raw.queries": "*",
        "raw.passages": "*",
        "raw.judgments": "*",
        "raw.run_entries": "*",
        "raw.official_ranks": "*",
        "raw.near_duplicates": "*",
        "raw.systems": "collection, system, kind, source_file, file_sha256, n_rows",
        "raw.ledger": "target, sha256, n_rows",
        "marts.topic_scores": "*",
        "marts.leaderboard": "*",
        "marts.leaderboard_correlation": "*",
        "marts.missing_labels": "*",
    }
    with Lake.published(Project.find(folder)) as lake:
        return {
            table: lake.rows(f"select {columns} from lake.{table} order by all")
            for table, columns in tables.items()
        }


def start_and_kill(folder, arguments, delay) -> bool:
    """Start a command, kill it after `delay` seconds. Returns whether it was still running."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gradelake", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(delay)
    running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return running


def test_killed_ingests_and_builds_lose_and_double_nothing(tmp_path):
    rng = random.Random(20_19)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    seconds = {}
    for folder in (whole, killed):
        gradelake(tmp_path, "init", str(folder), "--demo")
    for command in (["ingest", "demo"], ["build"]):
        started = time.monotonic()
        done = run_apart(whole, *command)  # as those that are killed: its imports take a while
        assert done.returncode == 0, done.stderr
        seconds[command[0]] = time.monotonic() - started

    hit = {"ingest": 0, "build": 0}
    runs = sorted((killed / "runs").glob("*.run"))
    late = {file.name: file.read_bytes() for file in runs[5:]}
    for name in late:
        (killed / "runs" / name).unlink()
    turn = -1
    while min(hit.values()) < KILLS // 2:
        turn += 1
        assert turn < 8 * KILLS, f"too few kills met a running command: {hit}"
        command = ["ingest", "demo"] if turn % 2 == 0 else ["build"]
        if command[0] == "ingest":
            # something new to bring in, so that there is something to lose
            for name in list(late)[: 1 + turn // 4]:
                (killed / "runs" / name).write_bytes(late[name])
            (killed / "runs" / f"extra{turn % 3}.run").write_text(
                f"volcano-prediction Q0 p037 1 {turn}.0 extra\n"
            )
        # start-up takes the first seconds; most kills should hit the work itself
        delay = seconds[command[0]] * rng.uniform(0.3, 0.95)
        if start_and_kill(killed, command, delay):
            hit[command[0]] += 1
        else:  # it is quicker than it was
            seconds[command[0]] *= 0.7
        if turn % 5 == 4:
            gradelake(killed, "ingest", "demo")  # all before may have been killed
            gradelake(killed, "build")
            with Lake.live(Project.find(killed)) as lake:
                assert_whole(lake)

    for name in late:
        (killed / "runs" / name).write_bytes(late[name])
    for extra in (killed / "runs").glob("extra*.run"):
        (whole / "runs" / extra.name).write_bytes(extra.read_bytes())
    for folder in (whole, killed):
        gradelake(folder, "ingest", "demo")
        gradelake(folder, "build")
        gradelake(folder, "doctor")
    assert content(killed) == content(whole)
    with Lake.live(Project.find(killed)) as lake:
        assert_whole(lake)
    for file in (killed / "lake").rglob("*.writing"):
        raise AssertionError(f"left behind: {file}")


def assert_whole(lake) -> None:
    """Each system has the rows it announced, no row twice, and no model is left half-way."""
    broken = lake.rows(
        """
        select system, n_rows, n_found, n_distinct
        from lake.raw.systems
        left join (
            select system, count(*) as n_found, count(distinct (query_id, passage_id)) as n_distinct
            from lake.raw.run_entries
            group by system
        ) using (system)
        where n_rows is distinct from n_found or n_found != n_distinct
        """
    )
    assert broken == []
    leftovers = lake.rows(
        "select table_name from duckdb_tables() where database_name = 'lake' "
        "and (table_name like '%__dbt_%')"
    )
    assert leftovers == []
