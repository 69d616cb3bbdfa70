"""kill -9 while grading, the driver or a worker: every planned pair once, as if undisturbed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake
from tests.conftest import gradelake

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("GRADELAKE_KILLS", "2"))
GRADE = ("grade", "dl19", "--grader", "lexical")


@pytest.fixture
def killed(dl19_planned, tmp_path):
    """TREC DL 2019 as `dl19_graded` has it, with nothing graded."""
    folder = tmp_path / "killed"
    shutil.copytree(dl19_planned, folder)
    with (folder / "gradelake.toml").open("a") as config:
        config.write("chunk_pairs = 100\n")  # small ones: there are many moments to be killed at
    return folder


def grades(folder) -> list[tuple]:
    with Lake.live(Project.find(folder)) as lake:
        return lake.rows("select * exclude (batch_id, graded_at) from lake.raw.grades order by all")


def n_graded(folder) -> int:
    with Lake.live(Project.find(folder)) as lake:
        return lake.value("select count(status) from lake.raw.grades")


def workers_of(process) -> list[psutil.Process]:
    """The Ray actors that a driver started."""
    try:
        children = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    found = []
    for child in children:
        try:
            if child.name().startswith("ray::Grade"):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def test_killed_at_random_moments_it_grades_each_planned_pair_once(killed, dl19_graded):
    rng = random.Random(2019)
    planned = n_graded(dl19_graded)
    assert planned > 90_000
    hit = {"driver": 0, "worker": 0}
    process = None
    for _ in range(10 * KILLS):
        if sum(hit.values()) >= KILLS:
            break
        if process is None or process.poll() is not None:
            process = subprocess.Popen(
                [sys.executable, "-m", "gradelake", *GRADE],
                cwd=killed,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
        deadline = time.monotonic() + 60
        while not workers_of(process) and process.poll() is None:
            assert time.monotonic() < deadline, "no worker was ever started"
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 1.5))
        victims = workers_of(process)
        if process.poll() is not None or not victims:
            continue
        # a worker first, then its driver: both meet runs that go on from killed ones
        if hit["worker"] <= hit["driver"]:
            rng.choice(victims).send_signal(signal.SIGKILL)
            hit["worker"] += 1
        else:
            process.send_signal(signal.SIGKILL)
            process.wait()
            hit["driver"] += 1
        if n_graded(killed) == planned:
            break  # nothing left to kill
    if process.poll() is None:
        process.wait(timeout=300)
    met_while_unfinished = sum(hit.values())
    assert met_while_unfinished == KILLS, hit
    gradelake(killed, *GRADE)
    assert grades(killed) == grades(dl19_graded)
    assert not list((killed / "lake" / "grading").glob("*/*"))
    with Lake.live(Project.find(killed)) as lake:
        twice = lake.rows(
            "select query_id, passage_id, item_id, count(*) from lake.raw.grades "
            "group by all having count(*) > 1"
        )
        wanted = lake.value(
            "select count(distinct (pool.query_id, pool.passage_id, items.item_id)) "
            "from lake.intermediate.int_pool as pool "
            "inner join lake.intermediate.int_rubric_items as items using (collection, query_id) "
            "where pool.text_sha256 is not null"
        )
    assert twice == []
    assert n_graded(killed) == planned == wanted
