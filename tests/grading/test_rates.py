"""Requests and tokens per minute: what several processes send together stays below them."""

import json
import os
import subprocess
import sys
import time

import pytest

from gradelake.grading.engines import EngineUnusable
from gradelake.grading.engines.openai import Engine
from tests.grading.misbehaving import answer
from tests.grading.project import Judged
from tests.grading.subjects import end
from tests.places import REPOSITORY

NO_WAIT = 5.0  # seconds in which a busy machine has asked a few prompts


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gradelake" / "rates"


@pytest.fixture
def ask(tmp_path, server, cache):
    """Asks about so many passages at once; the seconds between the first and the last request."""

    def ask(n: int, **settings) -> float:
        wanted = {"engine": "openai", "model": "m", "prompt": "sun", "base_url": server.url}
        wanted["constrain"] = "none"  # the server writes numbers
        engine = Engine(Judged(tmp_path / "project").grader("g", **wanted, **settings))
        values = [{"query": "why", "passage": f"Number {number}."} for number in range(n)]
        responses = engine.score([engine.grader.prompt.render(each) for each in values])
        end(engine)
        assert all(response.error is None for response in responses)
        return sum(server.gaps())

    return ask


@pytest.mark.slow
def test_two_processes_together_keep_to_the_requests_of_a_minute(tmp_path, server, cache):
    settings = json.dumps({"base_url": server.url, "requests_per_minute": 240})  # 0.25 s each
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.grading.asking", tmp_path / f"p{n}", "8", settings],
            cwd=REPOSITORY,
            env=os.environ,
        )
        for n in range(2)
    ]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert len(server.asked) == 16
    # one that knew nothing of the other would be done in half of this
    assert sum(server.gaps()) >= 15 * 0.25 - 1


@pytest.mark.slow
def test_requests_are_spread_over_the_minute(ask):
    assert ask(6, requests_per_minute=240) >= 5 * 0.25 - 0.6


@pytest.mark.slow
def test_the_next_run_goes_on_where_the_last_one_ended(ask, server):
    ask(1, requests_per_minute=30)
    assert ask(1, requests_per_minute=30) >= 2 - 0.2


@pytest.mark.slow
def test_tokens_are_those_that_the_server_counted(ask, server):
    """A prompt of 500 tokens by the server's count, some 250 by its letters: 0.5 s each."""
    server.on("", answer("Yes", usage={"prompt_tokens": 499, "completion_tokens": 1}))
    assert ask(4, tokens_per_minute=60_000, concurrency=1) >= 3 * 0.5 - 0.7


def test_without_limits_nothing_waits_and_nothing_is_written(ask, cache):
    assert ask(30) < NO_WAIT
    assert not cache.exists()


@pytest.mark.parametrize("spoil", ["{", "[]", '{"written": 1, "requests": "x"}', "clock"])
def test_what_is_no_time_or_in_the_future_is_not_waited_for(ask, cache, spoil):
    ask(1, requests_per_minute=6000)
    (file,) = cache.iterdir()
    later = time.time() + 86400  # as a clock that was set back leaves it
    clock = json.dumps({"written": later, "requests": later, "tokens": later})
    file.write_text(clock if spoil == "clock" else spoil)
    assert ask(1, requests_per_minute=6000) < NO_WAIT


def test_a_limit_that_cannot_be_shared_stops_the_run(ask, cache):
    cache.parent.parent.mkdir()
    cache.parent.write_text("no folder")
    with pytest.raises(EngineUnusable, match="processes share requests_per_minute") as caught:
        ask(1, requests_per_minute=10)
    assert "XDG_CACHE_HOME" in caught.value.hint


def test_limits_change_no_grade(judged):
    settings = {"engine": "openai", "model": "m", "prompt": "sun"}
    plain = judged.grader("plain", **settings)
    limited = judged.grader("g", **settings, requests_per_minute=5, tokens_per_minute=10)
    assert limited.grader_id == plain.grader_id
