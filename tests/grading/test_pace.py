"""How many requests are on their way at once is found: against servers in simulated time."""

import asyncio
import random
import resource
import selectors
from contextlib import suppress
from statistics import fmean

import pytest

from gradelake.grading.engines import _chat_engine
from gradelake.grading.engines._connection import Busy, patiently
from gradelake.grading.engines._pace import Pace
from gradelake.grading.engines.openai import Engine
from tests.grading.misbehaving import answer
from tests.grading.subjects import end
from tests.tiers import first_of


class _Clock(selectors.SelectSelector):
    """Time goes on as soon as everybody waits."""

    now = 0.0

    def select(self, timeout=None):
        found = super().select(0)
        if not found and timeout:
            self.now += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self):
        self.clock = _Clock()
        super().__init__(self.clock)

    def time(self):
        return self.clock.now


class TooMany(Exception):
    """A 429, perhaps with the seconds to wait."""


class Server:
    """Takes so many requests at once; refuses others, or has them wait."""

    def __init__(
        self, capacity: int, seconds: float = 0.5, queues: bool = False, spread: float = 0
    ):
        self.capacity, self.seconds, self.queues, self.spread = capacity, seconds, queues, spread
        self.waits: float | None = None  # Retry-After
        self.slower = 0.0  # seconds more, for each other request at work
        self.at_work = self.most = self.answered = self.refused = 0
        self._chance = random.Random(1)
        self._free = asyncio.Condition()

    async def __call__(self) -> None:
        if self.at_work >= self.capacity and not self.queues:
            self.refused += 1
            raise TooMany(self.waits)
        async with self._free:
            await self._free.wait_for(lambda: self.at_work < self.capacity)
            self.at_work += 1
        self.most = max(self.most, self.at_work)
        noise = self._chance.uniform(1 - self.spread, 1 + self.spread)
        await asyncio.sleep((self.seconds + self.slower * self.at_work) * noise)
        self.at_work -= 1
        self.answered += 1
        async with self._free:
            self._free.notify()


class Asked:
    """Prompts without end go through a pace to a server."""

    def __init__(self, server: Server, most: int = 512):
        self.loop = _Loop()
        self.server, self.pace = server, Pace(most)
        self.prompts: set[asyncio.Task] = set()
        self.n_prompts = 4 * most

    def during(self, seconds: float) -> tuple[list[int], float]:
        """The limits that there were, each 0.05 s, and the answers a second."""
        limits, answered, began = [], self.server.answered, self.loop.time()

        async def watch() -> None:
            while self.loop.time() < began + seconds:
                while len(self.prompts) < self.n_prompts:
                    self.prompts.add(task := self.loop.create_task(self._prompt()))
                    task.add_done_callback(self.prompts.discard)
                await asyncio.sleep(0.05)
                limits.append(self.pace.limit)

        self.loop.run_until_complete(watch())
        return limits, (self.server.answered - answered) / (self.loop.time() - began)

    async def _prompt(self) -> None:
        async def ask() -> None:
            try:
                with self.pace.request(TooMany):
                    await self.server()
            except TooMany as error:
                raise Busy("busy", *error.args) from None

        async with self.pace.turn() as turn:
            await patiently(lambda: turn.asked(ask), 1e9, 1.0)

    def close(self) -> None:
        for task in self.prompts:
            task.cancel()
        if self.prompts:
            self.loop.run_until_complete(asyncio.wait(self.prompts))
        self.loop.close()


@pytest.fixture
def asked():
    """Asks a server, in a loop whose clock is simulated."""
    made: list[Asked] = []

    def make(*of_server, most: int = 512, **settings) -> Asked:
        made.append(Asked(Server(*of_server, **settings), most))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_what_a_server_takes_before_it_refuses_is_found_within_a_tenth(asked):
    found = asked(40)
    found.during(30)
    limits, rate = found.during(60)
    assert fmean(limits) == pytest.approx(40, rel=0.1)
    assert max(limits) <= 44
    assert rate >= 0.9 * 40 / 0.5


@pytest.mark.parametrize("capacity", first_of(2, 12, 40, 150))
def test_where_replies_take_longer_the_more_wait_throughput_is_found_without_a_long_queue(
    asked, capacity
):
    found = asked(capacity, queues=True, spread=0.3)
    found.during(60)
    limits, rate = found.during(120)
    assert rate >= 0.9 * capacity / 0.5
    assert sorted(limits)[len(limits) // 2] <= max(1.3 * capacity, 20)


def test_throughput_that_rises_ever_less_is_followed_until_a_doubling_brings_no_5_percent(asked):
    """Of n at once a reply takes 0.5 + n / 40 s: at most 40 a second, 38.6 with 512."""
    found = asked(10_000, spread=0.3)
    found.server.slower = 1 / 40
    found.during(120)
    limits, rate = found.during(240)
    assert rate >= 0.9 * 512 / (0.5 + 512 / 40)
    assert min(limits) > 64


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_never_more_than_the_bound_are_on_their_way_and_soon_as_many(asked, most):
    found = asked(10_000, most=most)
    found.during(10)
    limits, rate = found.during(10)
    assert found.server.most == max(limits) == most
    assert rate >= 0.95 * most / 0.5


def test_a_429_leaves_four_fifths_of_those_that_were_taken_at_once(asked):
    found = asked(10_000, most=100)
    found.during(10)
    found.server.capacity = 50
    limits, _ = found.during(1)
    assert limits[-1] == 40


@pytest.mark.parametrize("capacity", [0, 1, 10])
def test_after_a_phase_of_429_it_finds_its_way_back(asked, capacity):
    found = asked(100)
    found.during(20)
    found.server.capacity, found.server.waits = capacity, 5.0
    limits, rate = found.during(60)
    assert limits[-1] <= max(2, 1.1 * capacity)
    assert rate >= 0.75 * capacity / 0.5
    found.server.capacity, found.server.waits = 100, None
    found.during(30)
    limits, rate = found.during(20)
    assert fmean(limits) == pytest.approx(100, rel=0.1)
    assert rate >= 0.9 * 100 / 0.5


def test_who_refuses_everybody_is_asked_by_those_alone_whose_wait_is_over(asked):
    found = asked(10_000, most=100)
    found.during(20)
    found.server.capacity, found.server.waits, found.server.refused = 0, 5.0, 0
    found.during(1.0)  # what was on its way is answered, and what follows refused
    asleep, before = len(found.pace.asleep), found.server.refused
    assert before == asleep == 100
    found.during(3.9)
    assert found.server.refused == before
    found.during(5.0)
    assert found.server.refused - before <= asleep


def test_where_requests_are_spaced_as_many_are_let_through_as_that_takes(asked):
    """20 a second, each 2 s: 40 at once, though the gate began with 16."""
    found = asked(10_000, 2.0)
    free = [0.0]
    answer = found.server.__call__

    async def prompt() -> None:
        async with found.pace.turn() as turn:

            async def ask() -> None:
                free[0] = max(free[0], found.loop.time()) + 1 / 20
                await asyncio.sleep(free[0] - found.loop.time())
                with found.pace.request(TooMany):
                    await answer()

            await turn.asked(ask)

    found._prompt = prompt
    found.during(30)
    assert found.during(30)[1] >= 0.95 * 20


def test_who_does_not_wait_any_more_leaves_the_place_to_others(asked):
    made = asked(1, most=1)
    pace = made.pace

    async def hold(seconds: float) -> float:
        async with pace.turn():
            await asyncio.sleep(seconds)
        return asyncio.get_running_loop().time()

    async def three() -> float:
        first, second, third = (asyncio.ensure_future(hold(1.0)) for _ in range(3))
        first.add_done_callback(lambda _: second.cancel())  # as it is given the place
        with suppress(asyncio.CancelledError):
            await second
        return await third

    assert made.loop.run_until_complete(three()) == pytest.approx(2.0)
    assert pace.at_work == 0


# --- the engine -----------------------------------------------------------------------------------


@pytest.fixture
def engine(judged, server):
    """Makes the engine `openai` with these settings."""
    made = []

    def make(**settings) -> Engine:
        asks = {"engine": "openai", "model": "m", "prompt": "sun", "base_url": server.url}
        made.append(Engine(judged.grader("gpt", **asks, constrain="none", **settings)))
        return made[-1]

    yield make
    for one in made:
        end(one)


def test_the_engine_finds_out_by_itself_how_much_a_server_takes(engine, server):
    server.on("", answer("Yes", delay=0.5))
    gpt = engine()
    values = [{"query": "why", "passage": f"Number {number}."} for number in range(250)]
    before = gpt.chunks_now()
    responses = gpt.score([gpt.grader.prompt.render(each) for each in values])
    assert {response.text for response in responses} == {"Yes"}
    assert 16 < server.most_open <= gpt.pace.limit
    assert before < gpt.chunks_now() <= gpt.chunks_at_once(gpt.grader)


def test_no_more_connections_are_opened_than_half_of_the_files_that_a_process_may(
    engine, monkeypatch
):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 4096))
    assert _chat_engine.most_at_once(engine().grader) == 50
    assert _chat_engine.most_at_once(engine(concurrency=20).grader) == 20


@pytest.mark.fast
@pytest.mark.parametrize(
    ("settings", "chunks"),
    [({}, 14), ({"chunk_pairs": 1}, 513), ({"concurrency": 64}, 3), ({"concurrency": 1}, 2)],
)
def test_chunks_at_work_keep_it_up_while_each_waits_for_its_last_reply(judged, settings, chunks):
    asks = {"engine": "openai", "model": "m", "prompt": "sun"}
    assert Engine.chunks_at_once(judged.grader("gpt", **asks, **settings)) == chunks


@pytest.mark.fast
def test_how_many_at_once_changes_no_grade(judged):
    asks = {"engine": "openai", "model": "m", "prompt": "sun"}
    ids = {judged.grader("gpt", **asks, **more).grader_id for more in ({}, {"concurrency": 3})}
    assert len(ids) == 1
