"""Grading on a cluster of three machines; one shares no folder with the driver, one is killed."""

import json
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gradelake.grading.plan.planner import ensure_views
from tests.grading.project import Judged, copy_of
from tests.grading.ray_machines import Cluster, can_hide, require_linux

pytestmark = pytest.mark.slow

N_BEES = 40
# the engine without a model, slow enough to be hit, and telling where it worked
SLOW = """
import os, pathlib, time
import ray
from gradelake.grading.engines.lexical import Engine as Lexical

HERE = pathlib.Path(__file__).parent

class Engine(Lexical):
    chunk_pairs = 3

    def score(self, prompts):
        time.sleep(0.25)
        node = ray.get_runtime_context().get_node_id()
        with (HERE / f"at-{node}").open("a") as at:
            at.write("".join(f"{prompt.values['passage']}\\n" for prompt in prompts))
        return super().score(prompts)
"""


@dataclass
class Place:
    """A cluster, and the same ungraded collection several times."""

    cluster: Cluster
    engines: Path
    projects: dict[str, Judged]

    def grade(self, name: str, **environment: str) -> subprocess.Popen:
        """`gradelake grade` in a process of its own."""
        environment = self.cluster.environment | environment
        return self.projects[name].spawn(
            "grade", "tiny", "--grader", "slow", "--json", **environment
        )

    def n_asked(self) -> dict[str, int]:
        """node -> prompts it was asked, of all runs so far."""
        return {
            file.name.removeprefix("at-"): len(file.read_text().splitlines())
            for file in self.engines.glob("at-*")
        }


@pytest.fixture(scope="module")
def place(tmp_path_factory, judged_lake) -> Iterator[Place]:
    require_linux()
    folder = tmp_path_factory.mktemp("cluster")
    engines = folder / "engines"
    projects = {}
    for name in ("whole", "killed"):
        (folder / name).mkdir()
        projects[name] = copy_of(judged_lake, folder / "lakes" / name)
        ready(projects[name], engines)
    with Cluster() as cluster:
        cluster.start()
        # a folder where the lake's would be, but another one: as on most second machines
        staging = Path("lake") / "grading" / projects["whole"].grader("slow").grader_id
        instead = projects["whole"].folder / staging
        cluster.start(folder / "lakes", instead) if can_hide() else cluster.start()
        cluster.start()
        for project in projects.values():
            project.grading["ray_address"] = cluster.address
        yield Place(cluster, engines, projects)
    for project in projects.values():
        project.close()


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
    project.grader("slow", engine="slow", prompt="question_self_rating", parser="strict", actors=3)
    ensure_views(project.lake)


def told(process: subprocess.Popen, code: int = 0) -> dict:
    out, errors = process.communicate(timeout=300)
    assert process.returncode == code, out + errors
    return json.loads(out)


def test_answers_come_back_from_machines_that_share_no_folder_with_the_driver(place):
    if not can_hide():
        pytest.skip("no mount namespaces here: every machine sees the driver's folders")
    whole = place.projects["whole"]
    done = told(place.grade("whole"))
    assert (done["pairs"], done["failed"], done["left"]) == (3 * N_BEES + 12, 0, 0)
    assert done["workers"] == 3
    asked = place.n_asked()
    assert len(asked) == 3, asked
    assert min(asked.values()) >= 3
    assert len(whole.grades("slow")) == 3 * N_BEES + 12
    assert list((whole.folder / "lake" / "grading").glob("*/*")) == []


def test_without_the_clusters_token_nobody_gets_in(place, tmp_path):
    few_tries = {"RAY_AUTH_TOKEN": "", "HOME": str(tmp_path), "RAY_NUM_REDIS_GET_RETRIES": "2"}
    run = place.grade("killed", RAY_AUTH_MODE="", **few_tries)
    out, errors = run.communicate(timeout=300)
    assert (run.returncode, out) == (1, "")
    assert f"no Ray cluster can be used {place.cluster.address}" in errors
    assert "has it the cluster's token" in errors
    assert place.projects["killed"].grades("slow") == {}


def test_a_machine_is_killed_and_every_pair_is_graded_once_as_if_it_were_not(place):
    whole, killed = place.projects["whole"], place.projects["killed"]
    if not whole.grades("slow"):
        told(place.grade("whole"))
    before = place.n_asked()
    run = place.grade("killed")
    while not all(n > before[node] + 1 for node, n in place.n_asked().items()):
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    place.cluster.machines[2].kill()
    assert run.poll() is None
    assert sum(place.n_asked().values()) - sum(before.values()) < 2 * N_BEES
    done = told(run)
    assert (done["pairs"], done["failed"], done["left"]) == (3 * N_BEES + 12, 0, 0)
    columns = "* exclude (query_id, passage_id, item_id, run_id, graded_at)"
    assert killed.grades("slow", columns) == whole.grades("slow", columns)
    assert list((killed.folder / "lake" / "grading").glob("*/*")) == []
