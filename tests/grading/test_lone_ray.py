"""What a Ray for one process consists of, seen from outside, in a process of its own."""

import json
import signal
import subprocess
import sys
import time

import psutil
import pytest

from tests.grading.project import ENGINE, wait_for

pytestmark = pytest.mark.slow

PROGRAM = """
import json, psutil, ray
from gradelake.grading.run import lone_ray

def programs():
    found = psutil.Process().children(recursive=True)
    return sorted(" ".join(process.cmdline()[:3]).strip() for process in found)

@ray.remote
class Adder:
    def add(self, one, other):
        return one + other

lone_ray.start(num_cpus=3)
before = programs()
actor = Adder.remote()
answer = ray.get(actor.add.remote(2, 3))
actors = [name for name in programs() if name.startswith("ray::")]
cores = ray.cluster_resources()["CPU"]
ray.shutdown()
print(json.dumps([answer, cores, before, actors, programs()]))
"""


def test_only_what_runs_actors_is_started_and_nothing_is_left() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    answer, cores, before, actors, after = json.loads(done.stdout)
    assert (answer, cores) == (5, 3)
    for unwanted in ("dashboard.py", "Agent", "monitor.py", "ray::IDLE"):
        assert not [name for name in before if unwanted in name]
    assert [name for name in before if "raylet" in name]
    assert [name for name in before if "gcs_server" in name]
    assert [name for name in actors if name.startswith("ray::Adder")]
    assert after == []


def test_a_sigterm_ends_it_at_once_also_while_it_starts_and_nothing_is_left() -> None:
    program = """
import time, psutil
from gradelake.grading.run import lone_ray
lone_ray.start(num_cpus=1)
print([process.pid for process in psutil.Process().children(recursive=True)], flush=True)
time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as job:
        assert job.stdout
        below = json.loads(job.stdout.readline())
        job.terminate()
        assert job.wait(10) == -signal.SIGTERM
    until = time.monotonic() + 30
    while any(map(psutil.pid_exists, below)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not [pid for pid in below if psutil.pid_exists(pid)]


SLOW = f"""
{ENGINE}
    chunk_pairs = 1

    def score(self, prompts):
        note(*(repr(prompt.text) for prompt in prompts))
        time.sleep(1)
        return [Response("1") for _ in prompts]

from gradelake.grading.run import machines
machines.HEAD_GONE_FOR, machines.LOOK_EVERY = 0, 0.5
"""


def test_a_run_whose_head_is_killed_finishes_what_was_begun_and_says_what_to_do(judged) -> None:
    judged.engine("slow", SLOW)
    judged.grader("slow", engine="slow", prompt="question_self_rating", parser="strict")
    run = judged.spawn("grade", judged.name, "--grader", "slow")
    wait_for(lambda: len(judged.asked()) >= 2, run)
    below = psutil.Process(run.pid).children(recursive=True)
    (head,) = [process for process in below if process.name() == "gcs_server"]
    head.kill()
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "error: Ray's head process (gcs_server) has ended" in errors
    assert "Run the same command again." in errors
    assert judged.grade("slow").exit_code == 0
    assert len(judged.asked()) == len(set(judged.asked())), "a prompt was paid for twice"
    assert len(judged.grades("slow")) == 12
