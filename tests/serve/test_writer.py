"""One thread writes: in order, reviews before builds, and what fails stops nobody else."""

import threading
import time
from concurrent.futures import wait

import pytest

from gradelake.serve.writer import Writer
from gradelake.sql.common.errors import BadInput, GradelakeError


@pytest.fixture
def writer():
    writer = Writer()
    yield writer
    writer.close(1)


def held(writer: Writer) -> threading.Event:
    """Keep the writer at work until the event is set."""
    begun, goes_on = threading.Event(), threading.Event()

    def work(_):
        begun.set()
        goes_on.wait(10)

    writer.submit("long", work, kind="build")
    assert begun.wait(5)
    return goes_on


def test_jobs_are_done_in_order_in_one_thread_and_those_ahead_first(writer):
    goes_on, done = held(writer), []

    def noted(name: str):
        return lambda _: done.append((name, threading.current_thread().name))

    jobs = [writer.submit(name, noted(name)) for name in ("build 1", "build 2")]
    jobs += [writer.submit(name, noted(name), ahead=True) for name in ("review 1", "review 2")]
    assert [job.state for job in jobs] == ["waiting"] * 4
    goes_on.set()

    assert wait([job.outcome for job in jobs], 5).not_done == set()
    assert [name for name, _ in done] == ["review 1", "review 2", "build 1", "build 2"]
    assert {thread for _, thread in done} == {"writer"}


def test_a_failure_is_told_in_words_and_the_next_job_is_done(writer, capsys):
    def known(_):
        raise BadInput("the seed is wrong", "Fix it.")

    def unknown(_):
        raise ValueError("<secret>")

    first, second = writer.submit("a", known, kind="a"), writer.submit("b", unknown, kind="b")
    third = writer.submit("c", lambda job: job.what)
    assert third.outcome.result(5) == "c"
    assert (first.state, first.error, first.hint) == ("failed", "the seed is wrong", "Fix it.")
    assert second.error == "Something went wrong here."
    assert "<secret>" in capsys.readouterr().err
    with pytest.raises(BadInput, match="the seed is wrong"):
        first.outcome.result()
    assert [job.state for job in writer.recent(kind="a")] == ["failed"]


def test_what_has_not_begun_can_be_forgone(writer):
    goes_on, done = held(writer), []
    job = writer.submit("later", done.append)
    assert writer.forgo(job)
    assert not writer.forgo(job)
    goes_on.set()
    writer.submit("next", lambda _: None).outcome.result(5)
    assert done == []
    with pytest.raises(GradelakeError, match="not begun"):
        job.outcome.result()


def test_the_end_waits_a_little_and_begins_nothing(writer):
    goes_on = held(writer)
    waiting, stopped = writer.submit("later", lambda _: None, kind="build"), threading.Event()

    def beside(job):
        job.stop = stopped.set
        stopped.wait(10)

    grading = writer.beside("grade", beside, kind="grade")
    while grading.stop is None:
        time.sleep(0.01)

    started = time.monotonic()
    assert not writer.close(0.3)
    assert time.monotonic() - started < 2
    assert writer.is_busy
    assert stopped.is_set()
    assert waiting.state == "stopped"
    with pytest.raises(GradelakeError, match="ending"):
        writer.submit("more", lambda _: None)
    goes_on.set()
    assert writer.close(5)
