"""Grading on a cluster of two machines; one shares no folder with the driver, and is killed."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.run import crew
from tests.grading.project import Judged, copy_of
from tests.grading.ray_machines import Cluster, can_hide, require_linux

pytestmark = pytest.mark.slow

N_BEES = 12
N_PAIRS = 3 * N_BEES + 12
# the engine without a model, slow enough to be hit, and telling where it worked; a pair that kills
# one worker has failed
SLOW = """
import os, pathlib, time
import ray
from gradelake.grading.engines.lexical import Engine as Lexical
from gradelake.grading.run import crew

HERE = pathlib.Path(__file__).parent
crew.TRIES = 1

class Engine(Lexical):
    chunk_pairs = 1

    def score(self, prompts):
        node = ray.get_runtime_context().get_node_id()
        with (HERE / f"at-{node}").open("a") as at:
            at.write("".join(f"{prompt.values['passage']}\\n" for prompt in prompts))
        time.sleep(0.25)
        return super().score(prompts)
"""


@dataclass
class Place:
    """A cluster, and an ungraded collection."""

    cluster: Cluster
    engines: Path
    judged: Judged

    def grade(self, **environment: str) -> subprocess.Popen:
        """`gradelake grade` in a process of its own."""
        command = ("grade", "tiny", "--grader", "slow", "--json")
        return self.judged.spawn(*command, **self.cluster.environment | environment)

    def n_asked(self) -> list[int]:
        """How many prompts each machine was asked."""
        return [len(file.read_text().splitlines()) for file in self.engines.glob("at-*")]


@pytest.fixture(scope="module")
def place(tmp_path_factory, judged_lake) -> Iterator[Place]:
    require_linux()
    folder = tmp_path_factory.mktemp("cluster")
    engines = folder / "engines"
    with (
        closing(copy_of(judged_lake, folder / "lakes" / "one")) as judged,
        Cluster() as cluster,
        pytest.MonkeyPatch.context() as here,
    ):
        here.setattr(crew, "TRIES", 1)  # the engine's file, which is read here, too, sets it
        ready(judged, engines)
        cluster.start()
        # a folder where the lake's would be, but another one: as on most second machines
        instead = judged.folder / "lake" / "grading" / judged.grader("slow").grader_id
        cluster.start(folder / "lakes", instead) if can_hide() else cluster.start()
        judged.grading["ray_address"] = cluster.address
        yield Place(cluster, engines, judged)


def ready(project: Judged, engines: Path) -> None:
    """Ingest the bees, and choose the slow engine."""
    bees = [
        f"b{n}\tThe bees of hive {n} see the sun and remember {n} landmarks." for n in range(N_BEES)
    ]
    project.write("passages.tsv", bees)
    project.write("runs/bees.run", [f"q2 Q0 b{n} 1 {n} bees" for n in range(N_BEES)])
    project.configure(default_pool_depth=N_BEES)
    assert project.ingest().exit_code == 0
    engines.mkdir(exist_ok=True)
    (engines / "slow.py").write_text(SLOW)
    project.grading["engines"] = str(engines)
    project.grader("slow", engine="slow", prompt="question_self_rating", parser="strict", actors=2)
    ensure_views(project.lake)


def test_without_the_clusters_token_nobody_gets_in(place, tmp_path):
    few_tries = {"RAY_AUTH_TOKEN": "", "HOME": str(tmp_path), "RAY_NUM_REDIS_GET_RETRIES": "2"}
    run = place.grade(RAY_AUTH_MODE="", **few_tries)
    out, errors = run.communicate(timeout=300)
    assert (run.returncode, out) == (1, "")
    assert f"no Ray cluster can be used {place.cluster.address}" in errors
    assert "has it the cluster's token" in errors
    assert place.judged.grades("slow") == {}


def test_a_machine_without_the_drivers_folders_is_killed_and_every_pair_is_graded_once(place):
    judged = place.judged
    run = place.grade()
    while not (len(asked := place.n_asked()) == 2 and min(asked) > 2):  # the first came back
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    place.cluster.machines[1].kill()
    assert run.poll() is None
    assert sum(place.n_asked()) < N_PAIRS / 2
    out, errors = run.communicate(timeout=300)
    assert run.returncode == 0, out + errors
    done = json.loads(out)
    # no pair is blamed for the machine
    assert (done["pairs"], done["failed"], done["left"], done["workers"]) == (N_PAIRS, 0, 0, 2)
    assert list((judged.folder / "lake" / "grading").glob("*/*")) == []
    judged.grading.clear()
    del judged.graders["slow"]
    judged.grade()
    columns = "* exclude (query_id, passage_id, item_id, grader_id, run_id, graded_at)"
    assert judged.grades("slow", columns) == judged.grades("lexical", columns)
