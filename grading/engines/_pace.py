"""How many requests are on their way to a server at once: found out while it answers."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from statistics import fmean
from typing import Any

from gradelake.grading.engines._connection import Busy

START, FEWEST = 16.0, 2.0  # requests at once
PAYS = 1.05  # times the throughput: what a raise has to bring
LESS, SAME = 0.8, 0.95  # times the limit; times the throughput, which is then as good
STEP, DOUBLE = 1.1, 2.0  # times the limit
REST = 10  # rounds
_REPLIES, _SECONDS, _SECONDS_AT_FIRST = 32, 0.25, 0.1  # of a round at least
_FULL = 0.9  # of the limit: on their way where it is the limit that holds others back
_NEAR = 0.03, 0.5  # of the limit, or requests: what is nearer is as good

_Queue = deque[asyncio.Future[None]]


class Pace:
    """A gate that lets as many requests through at once as bring the most replies a second.

    *Rounds.* Throughput is measured in rounds, once those on their way at a change of the limit
    have ended: over as many replies as the limit (over 32, or four times the limit if that is less,
    and 0.25 s at least), as the mean number on their way divided by the mean response time. Where
    they were fewer than 90 % of the limit, something else held them back, and the round says
    nothing.

    *Up.* It begins with 16, and doubles while a raise pays: while throughput rises by 5 % or more.
    (On this first climb a round has as many replies as the limit, from its change on.) A raise that
    does not pay has made response times longer without throughput; it is taken back.

    *Down.* What was reached is then taken times 0.8, again and again, while throughput stays within
    5 % of the best. Where it does not, the limit goes halfway back, and again, until it does; where
    each request less costs its share, all the way.

    *429.* A server that refuses some has taken the others: 0.8 times as many are let through, then
    halfway back to what it took, and again, nearly up to it. If it took at most 2, all begins anew,
    with 2.

    *Rest.* What was found holds for 10 rounds. Then a raise is tried: times 1.1 after a 429, as
    each request too many is refused, else doubled, as it only waits. If it pays, larger ones
    follow, up to doubling; if not, the limit goes down as above. So it does where throughput falls
    below 0.8 of what it was in two rounds: response times have risen without it.

    It is never above `most`, nor below 2 (or `most`). Who is refused gives up the place, and comes
    back before anybody new. Until then, or until some request is answered, nobody new takes it: a
    server that refuses everybody has the quiet it asks for, and one that refuses a few has no less
    to do.
    """

    def __init__(self, most: int):
        self._course = _limits(float(most))
        self._limit = next(self._course)
        self.at_work = 0  # turns that have a place
        self.asleep: set[Turn] = set()  # that gave up theirs, which nobody new may take
        self.new: _Queue = deque()
        self.back: _Queue = deque()
        self._taken: int | None = None  # requests, when the server refused others
        self._era = 0  # goes up when the limit is changed
        self._flying, self._changed_at = 0, -1.0
        # of the round: all requests' seconds; of those that ended: how many, how long, answered
        self._began = self._flown = self._seconds = 0.0
        self._ended = self._answered = 0
        self._is_climbing = True  # at first, doubling
        self._settling = 0  # replies until those count that tell of the limit

    @property
    def limit(self) -> int:
        """Requests that may be on their way at once."""
        return math.floor(self._limit + 0.5)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator["Turn"]:
        """A place for one prompt, once there is one."""
        turn = Turn(self)
        try:
            await turn.take(self.new)
            yield turn
        finally:
            turn.leave()

    def let_in(self) -> None:
        """Give places to those who wait."""
        while self.at_work < self.limit and _admit(self.back):
            self.at_work += 1
        while self.at_work + len(self.asleep) < self.limit and _admit(self.new):
            self.at_work += 1

    # --- what is heard of the server --------------------------------------------------------------

    @contextmanager
    def request(self, refusal: type[Exception]) -> Iterator[None]:
        """The time from when a request is sent until it has ended; `refusal` is what a 429
        raises."""
        sent_at, era, is_answered = self._count(+1), self._era, False
        try:
            yield
            is_answered = True
        except refusal:
            self._heed_refusal(era)
            raise
        finally:
            now = self._count(-1)
            if is_answered:
                self.asleep.clear()
            self._end(now, now - sent_at, is_answered)

    def _count(self, change: int) -> float:
        """Count so many more requests on their way, from now on."""
        now = asyncio.get_running_loop().time()
        if self._changed_at < 0:  # the first of all
            self._measure(now)
            self._changed_at = now
        self._flown += self._flying * (now - self._changed_at)
        self._changed_at = now
        self._flying += change
        return now

    def _heed_refusal(self, era: int) -> None:
        if era == self._era:  # the first one at this limit
            self._taken = self._flying - 1
        elif self._taken is not None:
            self._taken -= 1
        else:
            return
        self._era += 1
        self._set(self._course.throw(_Refusal(self._taken)))

    def _end(self, now: float, seconds: float, is_answered: bool) -> None:
        """A request has ended; the round, too, if it was the last."""
        if self._settling:
            self._settling -= 1
            self._measure(now)
            return
        self._ended += 1
        self._answered += is_answered
        self._seconds += seconds
        whole = now - self._began
        few, least = min(_REPLIES, 4 * self.limit), _SECONDS
        if self._is_climbing:
            few, least = 0, _SECONDS_AT_FIRST
        if self._ended < max(few, self.limit) or whole < least:
            return
        if (flying := self._flown / whole) < _FULL * self.limit:
            self._measure(now)
        else:
            self._taken = None
            self._set(self._course.send(flying * self._answered / self._seconds))

    def _measure(self, now: float) -> None:
        """The replies that count begin here."""
        self._began, self._flown, self._seconds = now, 0.0, 0.0
        self._ended = self._answered = 0

    def _set(self, limit: float) -> None:
        """A round begins."""
        self._is_climbing &= limit > STEP * self._limit
        if limit != self._limit:
            self._limit = limit
            self._settling = 0 if self._is_climbing else max(self.limit, self._flying)
            self._era += 1
        self._measure(self._count(0))
        self.let_in()


class Turn:
    """One prompt's place at the gate, which is given up while a server that refused it waits."""

    def __init__(self, pace: Pace):
        self.pace = pace
        self.has_place = False

    async def take(self, queue: _Queue) -> None:
        """Wait for a place."""
        place = asyncio.get_running_loop().create_future()
        queue.append(place)
        self.pace.let_in()
        try:
            await place
        finally:
            self.has_place = place.done() and not place.cancelled()

    async def asked(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What `ask` brings; where it is `Busy`, the place is given up until it is asked again."""
        if not self.has_place:
            self.pace.asleep.discard(self)
            await self.take(self.pace.back)
        try:
            return await ask()
        except Busy:
            self.pace.asleep.add(self)
            self._give_up()
            raise

    def leave(self) -> None:
        """No place is needed any more."""
        self.pace.asleep.discard(self)
        self._give_up()

    def _give_up(self) -> None:
        self.pace.at_work -= self.has_place
        self.has_place = False
        self.pace.let_in()


def _admit(queue: _Queue) -> bool:
    """Give a place to whoever has waited longest; whether there was anybody."""
    while queue:
        if not (place := queue.popleft()).done():
            place.set_result(None)
            return True
    return False


# --- the limits, one after the other --------------------------------------------------------------


class _Refusal(Exception):
    """Thrown at a limit: only so many of the requests on their way were taken."""

    def __init__(self, taken: int):
        self.taken = float(taken)


def _limits(most: float) -> Generator[float, float, None]:
    """The limits to try, as `Pace` says; each one is sent the throughput it has had."""
    fewest = min(FEWEST, most)
    found, factor, rounds, is_found = min(START, most), DOUBLE, 1, False
    taken: float | None = None
    while True:
        try:
            if taken is not None:
                ceiling, taken = taken, None
                yield (found := max(fewest, LESS * ceiling))
                found = yield from _halfway(found, ceiling)
            best, is_slower = yield from _rest(found, rounds)
            if is_slower or not is_found or found < most / PAYS:
                if not is_slower:
                    found, best, factor = yield from _raise(found, best, factor, most)
                found = yield from _lower(found, best, fewest)
            rounds, is_found = REST, True
        except _Refusal as refusal:
            if refusal.taken > fewest:
                taken, factor, rounds, is_found = refusal.taken, STEP, REST, True
            else:
                found, factor, rounds, is_found = fewest, DOUBLE, 1, False


def _rest(limit: float, rounds: int) -> Generator[float, float, tuple[float, bool]]:
    """The throughput of a limit; whether it fell, and is that of the last two rounds."""
    seen: list[float] = []
    for _ in range(rounds):
        throughput = yield limit
        if seen and throughput < LESS * fmean(seen):
            throughput = fmean((throughput, (yield limit)))
            if throughput < LESS * fmean(seen):
                return throughput, True
        seen.append(throughput)
    return fmean(seen), False


def _raise(
    limit: float, throughput: float, factor: float, most: float
) -> Generator[float, float, tuple[float, float, float]]:
    """The last limit that paid, the throughput that cannot be bettered, and the last factor."""
    while limit < most / PAYS:  # what is nearer could not pay
        higher = min(most, max(factor * limit, limit + 1))
        reached = yield higher
        if reached < throughput * (1 + higher / limit) / 2:  # less than half of what was hoped for
            reached = fmean((reached, (yield higher)))
        if reached < PAYS * throughput:
            return limit, fmean((throughput, reached)), DOUBLE
        limit, throughput = higher, reached
        factor = min(DOUBLE, factor**2)
    return limit, throughput, DOUBLE


def _lower(limit: float, best: float, fewest: float) -> Generator[float, float, float]:
    """The lowest limit, roughly, whose throughput is as good as the best."""
    while limit > fewest:
        lower = max(fewest, LESS * limit)
        reached = yield lower
        if reached < best * (LESS + SAME) / 2:  # each request more was worth it
            return limit
        reached = fmean((reached, (yield lower)))
        if reached < SAME * best:
            return (yield from _halfway(lower, limit, SAME * best))
        limit, best = lower, max(best, reached)  # it may only have been slow for a moment
    return limit


def _halfway(low: float, high: float, goal: float | None = None) -> Generator[float, float, float]:
    """A limit near `high` and below it; near the first whose throughput reaches the goal."""
    share, few = _NEAR
    while high - low > max(share * high, few):
        low = (low + high) / 2
        if (yield low) >= (goal or math.inf):
            return (low + high) / 2
    return low
