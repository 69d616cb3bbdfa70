"""Every reply that was paid for is in the log, and none is asked for twice, whatever stops a run.

The server counts what it answered, as a provider bills it.
"""

import errno
import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest

from gradelake.grading.ask import entry as log_entry
from gradelake.grading.ask.entry import Asked as About
from gradelake.grading.ask.entry import Segment, read_segment
from gradelake.grading.ask.recorder import Place, Recorder
from gradelake.grading.distil import distil as distilling
from gradelake.grading.distil.distil_store import DistilRequest
from gradelake.grading.engines import EngineUnusable, Response
from gradelake.grading.generate import generation
from gradelake.grading.generate.generation_bank import GenerationRequest
from gradelake.grading.graders.configured import configured, writing
from gradelake.grading.plan.request import GradingRequest
from gradelake.grading.probe import probe
from gradelake.grading.prompts.prompt_file import find_prompt
from gradelake.grading.run import grader_run
from gradelake.grading.sentinel import rounds
from gradelake.sql.common.errors import GradelakeError
from tests.command_line import gradelake
from tests.grading.misbehaving import Asked, Reply, Server, answer, refuse, sent
from tests.grading.test_distil import DISTIL, EXPLAIN, explanation
from tests.grading.test_generate import listed
from tests.grading.test_sentinel import Watched, watched_lake  # noqa: F401

pytestmark = pytest.mark.slow

AT_ONCE = 3  # prompts on their way
QUICK = {"pause": 0.01, "timeout": 5.0, "patience": 0.3, "concurrency": AT_ONCE}


def said(asked: Asked) -> Reply:
    """What a model would say."""
    if EXPLAIN in asked.text:
        return answer(explanation("word"))
    if DISTIL in asked.text:
        return answer(json.dumps({"rubric": "what it takes"}))
    if "questions" in asked.text:
        return answer(listed("Why?", "How?"))
    return answer("2")


class Counting(Server):
    """Bills what it answers; of a number of answers on it has a fault."""

    def __init__(self):
        super().__init__()
        self.billed: list[str] = []
        self.fault: Callable[[], Reply] | None = None
        self.sound = 10**9  # answers before the fault
        self.delay = 0.0

    def reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            is_sound = self.fault is None or len(self.billed) < self.sound
            if is_sound:
                self.billed.append(asked.text)
        if not is_sound:
            assert self.fault
            return self.fault()
        reply = replace(said(asked), delay=self.delay)
        model = json.dumps(asked.body.get("model")).encode()
        return replace(reply, body=reply.body.replace(b'"the model that was asked for"', model))


FAULTS: dict[str, Callable[[], Reply]] = {
    "500": lambda: refuse(500),
    "429 of the quota": lambda: refuse(429, "You exceeded your quota", "insufficient_quota"),
    "429": lambda: refuse(429, "slow down"),
    "401": lambda: refuse(401, "no such key"),
    "402": lambda: refuse(402, "no balance"),
    "400 of the account": lambda: refuse(400, "Your credit balance is too low"),
    "404": lambda: refuse(404, "no such model"),
    "half a character": lambda: Reply(b'{"error": {"message": "\\ud800"}}', 500),
    "nested": lambda: Reply(b'{"choices": ' + b"[" * 100_000, 500),
    "empty": lambda: Reply(b"", 502),
    "hangs up": lambda: Reply(hang_up=True),
    "no completion": lambda: sent({"error": "overloaded"}, status=503),
}


class World(Watched):
    """Sixty judged passages, and all that asks models."""

    def __init__(self, folder, server: Counting):
        super().__init__(folder)
        self.server = server
        asks = {"engine": "openai", "model": "m", "base_url": server.url, **QUICK}
        self.graders = {
            "judge": asks | {"prompt": "umbrela", "chunk_pairs": 5},
            "writer": asks | {"prompt": "generate_questions_dl"},
            "explainer": asks | {"prompt": "true_explain"},
        }
        self.sentinels = {"daily": {"collection": "tiny", "graders": ["judge"], "pairs": 20}}

    def work(self, name: str) -> None:
        """One of the works, in this process; what stops it is told."""
        self.stopped = None
        try:
            self._work(name)
        except GradelakeError as error:
            self.stopped = error

    def _work(self, name: str) -> None:
        project = self.project
        if name == "grade":
            request = GradingRequest(self.name, configured(project, self.lake, "judge"), limit=24)
            grader_run.grade(project, replace(request, limit=24 - self.n_graded()), list)
        elif name == "generate":
            asked = GenerationRequest(self.name, writing(project, "writer", "generate"), "written")
            generation.generate(project, asked, [])
        elif name == "distil":
            prompt = find_prompt(project, "true_distil")
            explainer = writing(project, "explainer", "explain")
            asked = DistilRequest(self.name, "nist", explainer, "words", prompt, per_label=4)
            distilling.distil(project, asked, [])
        elif name == "sentinel":
            rounds.watch(project, ["daily"])
        else:
            probe.watch(project, probe.Probe(collection=self.name, graders=["judge"], size=5))

    def n_graded(self) -> int:
        return self.lake.value("select count(*) from lake.raw.grades")

    def check(self, once: Counter[str], again: int = 0) -> None:
        """What was billed is what was to be asked, and what the log has."""
        billed = Counter(self.server.billed)
        assert billed >= once, "something was not asked"
        assert (billed - once).total() <= again, "a prompt was paid for twice"
        ((answered, unread),) = self.rows(
            "select count(*), count(*) filter (not is_read) from lake.raw.replies "
            "where state = 'answered'"
        )
        assert billed.total() - again <= answered <= billed.total()
        assert unread <= again
        assert self.waiting() == set()


WORKS = ("grade", "generate", "distil", "sentinel", "probe")


@pytest.fixture
def make(tmp_path, watched_lake):  # noqa: F811
    """Makes a world of its own."""

    made: list[World] = []

    def world(name: str) -> World:
        folder = tmp_path / name
        shutil.copytree(watched_lake, folder / "lake")
        server = Counting()
        made.append(World(folder, server))
        with made[-1].lake.transaction("test") as transaction:  # a label that nobody gave yet
            transaction.run(
                "update {lake}.raw.judgments set relevance = 2 where passage_id in ('p2', 'p5')"
            )
        return made[-1]

    yield world
    for one in made:
        one.close()
        one.server.clear()
        one.server.stop()


@pytest.fixture(scope="module")
def once() -> dict[str, Counter[str]]:
    """What each work asks where nothing goes wrong."""
    return {}


def asked_once(once, make, work: str) -> Counter[str]:
    if work not in once:
        sound = make(f"sound-{work}")
        sound.work(work)
        asked = Counter(sound.server.billed)
        assert asked.total() >= 2, sound.stopped
        sound.check(asked)
        once[work] = asked
    return once[work]


def strike(make, once, work: str, fault: str, after: int) -> None:
    expected = asked_once(once, make, work)
    world = make("struck")
    world.server.fault, world.server.sound = FAULTS[fault], after
    world.work(work)
    assert len(world.server.billed) == min(after, expected.total())
    world.server.fault = None
    world.work(work)
    world.check(expected)


@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("fault", ["500", "429 of the quota"])
def test_after_an_outage_and_a_used_up_quota_nothing_is_asked_again(make, once, work, fault):
    strike(make, once, work, fault, after=7 if work != "generate" else 1)


@pytest.mark.parametrize(
    "fault", [each for each in FAULTS if each not in ("500", "429 of the quota")]
)
def test_whatever_the_server_says_nothing_is_asked_again(make, once, fault):
    strike(make, once, "grade", fault, after=11)


def test_what_was_answered_before_an_outage_is_graded_at_once(make):
    world = make("struck")
    world.server.fault, world.server.sound = FAULTS["402"], 12
    world.work("grade")
    graded = "select count(*) from lake.raw.grades where status = 'ok'"
    assert world.rows(graded) == [(12,)]
    ((prompt_tokens, completion_tokens),) = world.rows(
        "select sum(prompt_tokens), sum(completion_tokens) from lake.raw.replies"
    )
    assert (prompt_tokens, completion_tokens) == (12 * 10, 12)


def test_what_a_query_cost_that_got_no_items_is_in_the_mart(make):
    world = make("refused")
    world.server.delay = 0
    world.graders["writer"]["prompt"] = "generate_nuggets_dl"  # the server writes questions
    world.work("generate")
    assert world.rows("select count(*) from lake.raw.rubric_items") == [(0,)]
    world.close()
    gradelake(world.folder, "build")
    told = "select purpose, state, count(*) as n from replies group by all"
    counted = gradelake(world.folder, "sql", told, "--format", "csv").stdout.splitlines()
    assert counted == ["purpose,state,n", f"generate,answered,{len(world.server.billed)}"]


def kill_command(process) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def kill_worker(process) -> None:
    """The Ray actor that asks."""
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if "Grade" in child.name() or any("ray::" in part for part in child.cmdline()):
                child.kill()


def kill_ray(process) -> None:
    for child in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.Error):
            if child.name() == "raylet":
                child.kill()


def interrupt(process) -> None:
    process.send_signal(signal.SIGINT)


@pytest.mark.parametrize("stop", [kill_command, kill_worker, kill_ray, interrupt])
def test_after_a_kill_what_was_on_its_way_alone_is_asked_again(make, once, stop):
    expected = asked_once(once, make, "grade")
    world = make("killed")
    world.server.delay = 0.2
    world.close()
    process = world.spawn("grade", "tiny", "--grader", "judge", "--limit", "24")
    while len(world.server.billed) < 9:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    stop(process)
    process.communicate(timeout=120)
    left = 24 - world.n_graded()
    world.close()
    if left:
        world.server.delay = 0
        gradelake(world.folder, "grade", "tiny", "--grader", "judge", "--limit", str(left))
    world.check(expected, again=0 if stop is interrupt else AT_ONCE)


@pytest.mark.parametrize("work", ["generate", "distil", "sentinel", "probe"])
def test_a_killed_command_asks_again_what_was_on_its_way_alone(make, once, work):
    expected = asked_once(once, make, work)
    world = make("killed")
    world.server.delay = 0.2
    world.close()
    commands = {
        "generate": ("generate", "tiny", "--grader", "writer", "--bank", "written"),
        "distil": (
            *("distil", "tiny", "--assessor", "nist", "--grader", "explainer"),
            *("--name", "words", "--per-label", "4"),
        ),
        "sentinel": ("sentinel", "daily"),
        "probe": ("probe", "tiny", "--grader", "judge", "--size", "5"),
    }
    process = world.spawn(*commands[work])
    while len(world.server.billed) < min(8, expected.total() - 1):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    kill_command(process)
    process.communicate(timeout=60)
    world.server.delay = 0
    world.work(work)
    world.check(expected, again=AT_ONCE)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(200))
def test_two_hundred_faults_of_all_works(make, once, seed):
    chance = random.Random(seed)
    work = WORKS[seed % len(WORKS)]
    n = asked_once(once, make, work).total()
    strike(make, once, work, chance.choice([*FAULTS]), after=chance.randrange(1, n))


# --- on a disk ------------------------------------------------------------------------------------


@pytest.mark.fast
def test_on_a_full_disk_nothing_more_is_asked_and_what_is_on_its_way_is_kept(tmp_path, monkeypatch):
    segment = Segment(tmp_path, About("c", "grade"), "chunk")
    segment.make_room(1000)

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)

    kept = [log_entry.LogEntry(f"hash {n}", "chunk", 1, 0.1, Response(str(n))) for n in range(20)]
    for each in kept:
        segment.add(each)
    with pytest.raises(EngineUnusable, match="No space left on device: replies are kept there"):
        segment.make_room(1 << 20)
    (file,) = tmp_path.iterdir()
    about, found = read_segment(file)
    assert (about.collection, about.purpose, found) == ("c", "grade", kept)
    segment.close()
    assert read_segment(file)[1] == kept
    assert file.stat().st_size < 20_000  # what was taken up beforehand is given back


@pytest.mark.fast
def test_a_line_that_a_killed_process_was_writing_is_none_and_those_before_it_are_kept(tmp_path):

    segment = Segment(tmp_path, About("c", "grade", round="daily/2"), "chunk")
    segment.make_room(1)
    entry = log_entry.LogEntry(
        "a", "chunk", 1, 0.1, Response("ü \U0001f600 \u2028 \n", probabilities=[0.5])
    )
    segment.add(entry)
    (file,) = tmp_path.iterdir()
    segment.close()
    with file.open("ab") as stream:
        stream.write(entry.as_line()[:40])
    about, found = read_segment(file)
    assert (about.round, found) == ("daily/2", [entry])
    file.write_bytes(b"\0" * 4096)
    assert read_segment(file) is None


def test_threads_give_each_kept_reply_once(tmp_path):

    known = [log_entry.LogEntry("same", "c", 1, 0.1, Response(str(n))) for n in range(100)]
    recorder = Recorder(None, Place(tmp_path, About("c", "grade")), known)
    given: list = []
    threads = [
        threading.Thread(target=lambda: given.extend(recorder.take("same") for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = Counter(each.response.text for each in given if each)
    assert texts == Counter(str(n) for n in range(100))
