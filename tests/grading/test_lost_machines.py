"""A machine that dies is not the fault of the pair that was at work there."""

import json

import pytest

from gradelake.grading.run.attempts import TRIES
from tests.grading.project import wait_for
from tests.grading.ray_machines import Cluster, require_linux

pytestmark = pytest.mark.slow

# waits at one passage for its machine to die, as long as the file `waits` is there
WAITING = """
import pathlib, time
from gradelake.grading.engines.lexical import Engine as Lexical

HERE = pathlib.Path(__file__).parent

class Engine(Lexical):
    chunk_pairs = 1

    def score(self, prompts):
        if "steel" in prompts[0].values["passage"]:
            with (HERE / "began").open("a") as began:
                began.write("x")
            while (HERE / "waits").exists():
                time.sleep(0.1)
        return super().score(prompts)
"""


def test_a_pair_outlives_more_machines_than_it_may_kill_workers(judged):
    require_linux()
    judged.engine("waiting", WAITING)
    (judged.folder / "engines" / "waits").touch()
    began = judged.folder / "engines" / "began"
    judged.grader("w", engine="waiting", prompt="umbrela", parser="final_score")
    with Cluster() as cluster:
        cluster.start(cores=0)  # the driver's; it does not die
        judged.grading["ray_address"] = cluster.address
        machine = cluster.start()
        run = judged.spawn("grade", "tiny", "--grader", "w", "--json", **cluster.environment)
        for n in range(TRIES + 1):
            wait_for(lambda n=n: began.exists() and len(began.read_text()) > n, run, 120)
            if n == TRIES:
                (judged.folder / "engines" / "waits").unlink()
            else:
                machine.kill()
                machine = cluster.start()
        out, errors = run.communicate(timeout=120)
    assert run.returncode == 0, out + errors
    done = json.loads(out)
    assert (done["pairs"], done["failed"]) == (5, 0)
