"""Ray actors that each hold one engine, fed by the driver's own loop.

A chunk is given to one actor at a time; when the actor dies, a new one gets the chunk. A chunk
that keeps killing its actor is halved until the pair at fault is alone. A machine that dies takes
its actors along, and no pair is blamed. An actor that asks a server has several chunks at work, so
that the server need not wait for a chunk's last replies: as many as its engine wants by then.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from gradelake.grading.ask.entry import LogEntry
from gradelake.grading.ask.recorder import Asking, Place, Recorder
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.engines import EngineUnusable
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Chunk
from gradelake.grading.run import machines
from gradelake.grading.run.attempts import TRIES, EngineBroken
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.halves import without_halves

QUEUED = 2  # chunks at an actor at least: one at work, one ready: it never waits for the driver
TICK = 0.2  # seconds between looks at signals and the clock
DEATHS_BEFORE_HALVING = 2
# deaths in a row, with no chunk answered between, after which the engine is to blame
PATIENCE_AT_FIRST, PATIENCE = 8, 30


@dataclass(eq=False)
class _Actor:
    handle: Any
    ready: Any  # reference to the result of `start`; None once it has started
    work: deque = field(default_factory=deque)  # (reference, Chunk), oldest first
    wants: int = QUEUED  # chunks to have, at work or ready


@dataclass(frozen=True)
class _Done:
    """A chunk's account, of a part of it where the engine could not go on, and why."""

    account: Any
    trouble: EngineUnusable | None
    chunks_now: int  # that the engine wants to have at work


@dataclass(eq=False)
class Crew:
    """The workers of one run. Use as a context manager: leaving it ends the actors."""

    worker: Any  # what each actor does: `gradelake.grading.run.worker.Worker`, or one like it
    log: ReplyLog
    actors: list[_Actor] = field(default_factory=list)
    deaths: dict[str, int] = field(default_factory=dict)  # by chunk
    deaths_in_a_row: int = 0
    answered: bool = False  # whether any chunk ever came back
    chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))  # that no actor had yet
    waiting: deque[Chunk] = field(default_factory=deque)  # that came back, or were looked at
    suspects: deque[Chunk] = field(default_factory=deque)  # at work when an actor died
    stopping: bool = False
    failed_starts: int = 0
    ready_at: float | None = None  # when the first worker had loaded its engine
    at_once: int = 1  # chunks at work in one actor, at most
    trouble: EngineUnusable | None = None  # the engine cannot go on: what is at work is waited for
    known: list[LogEntry] = field(default_factory=list)  # replies that are not asked for again

    @property
    def ray_address(self) -> str | None:
        return self.log.lake.project.grading.get("ray_address")

    def __enter__(self) -> "Crew":
        # Ray prints what happens to machines on stdout, where --json may be read
        self.stdout = redirect_stdout(sys.stderr)
        self.owns_ray = machines.join(self.ray_address)
        self.head = machines.RayHead()
        grader: Grader = self.worker.grader
        engine = engine_finder.engine_of(grader)
        workers = engine.workers(machines.size(), grader.settings)
        self.capacity = machines.Capacity(workers)
        places = self.capacity.count()
        if not places:
            raise WorkFailed(
                f"no machine has the {workers.cpus:g} cores and {workers.gpus:g} GPUs that one "
                f"worker of {grader.name} asks for",
                "Lower cpus_per_actor or tensor_parallel_size, or use a larger machine.",
            )
        # a worker that finds no place would wait for ever
        self.count = min(grader.actors or workers.count or 1, places)
        self.options = {"num_cpus": workers.cpus, "num_gpus": workers.gpus, "max_restarts": 0}
        if self.worker.side_by_side:
            self.options["max_concurrency"] = self.at_once = engine.chunks_at_once(grader)
        self.stdout.__enter__()
        self.known = self.log.unread()
        return self

    def __exit__(self, *_: object) -> None:
        import ray

        try:
            for actor in self.actors:
                ray.kill(actor.handle)
            if self.owns_ray:
                ray.shutdown()
        finally:
            self.stdout.__exit__(None, None, None)

    # --- the loop ---------------------------------------------------------------------------------

    def run(self, chunks: Iterator[Any], stop: Callable[[], bool]) -> Iterator[Any]:
        """Yield the account of every chunk as it finishes, and None several times a second.

        What a chunk and its account are is up to the worker: `Chunk` and `Graded`, or the like.

        Once `stop()` is true no chunk is begun; those at work are finished. Raises `WorkFailed`
        when the engine cannot work, once all that was answered is yielded, or Ray's head is gone.
        """
        import ray

        self.chunks, self.stopping, self.trouble = chunks, False, None
        self.waiting.clear()
        self.log.begin()
        if self._peek() is None:
            return
        while len(self.actors) < self.count and self._peek(len(self.actors)):
            self._hire()
        while True:
            if not self.stopping and (self.head.look() or stop()):
                self.stopping = True
                self._cancel_queued()
            if not self.stopping:
                self._feed()
            references = {
                reference: actor
                for actor in self.actors
                for reference in (actor.ready, *(reference for reference, _ in actor.work))
                if reference is not None
            }
            # a worker that is still loading, or that finds no machine any more, is not waited for
            is_at_work = any(actor.work for actor in self.actors)
            if not references or not (self.stopping or is_at_work or self._peek() or self.suspects):
                self.head.require()
                if self.trouble:
                    raise self.trouble
                return
            self.capacity.require(any(actor.ready is None for actor in self.actors))
            done, _ = ray.wait(list(references), num_returns=1, timeout=TICK)
            yield None
            for reference in done:
                if references[reference] in self.actors:
                    yield from self._collect(references[reference], reference)

    def _next(self) -> Chunk | None:
        """A chunk that came back first, then a new one, then one that may kill its worker."""
        if self._peek():
            return self.waiting.popleft()
        return self.suspects.popleft() if self.suspects else None

    def _peek(self, n: int = 0) -> Chunk | None:
        """The chunk after `n` others, without taking it."""
        while len(self.waiting) <= n and (chunk := next(self.chunks, None)):
            self.waiting.append(chunk)
        return self.waiting[n] if len(self.waiting) > n else None

    def _feed(self) -> None:
        for depth in range(1, max(QUEUED, self.at_once) + 1):
            for actor in self.actors:
                # suspects are given out alone: an answer still on its way dies with its actor, and
                # the wrong one would be blamed
                if actor.work and self._peek() is None:
                    continue
                if actor.ready is not None or len(actor.work) >= min(depth, actor.wants):
                    continue
                if chunk := self._next():
                    actor.work.append((actor.handle.grade.remote(chunk), chunk))

    def _cancel_queued(self) -> None:
        """Chunks that no actor has begun stay undone; the next run plans them again."""
        import ray

        for actor in self.actors:
            actor.ready = None  # it need not finish loading
            if not actor.work or self.head.is_gone:  # without which Ray cancels nothing
                continue
            references = [reference for reference, _ in actor.work]
            finished, _ = ray.wait(references, num_returns=len(references), timeout=0)
            begun = len(finished) + self.at_once
            while len(actor.work) > begun:
                reference, _ = actor.work.pop()
                ray.cancel(reference)

    def _collect(self, actor, reference) -> Iterator[Any]:
        import ray

        try:
            result = ray.get(reference)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, EngineBroken):
                yield from self._bury(actor, str(error.cause))
                return
            if isinstance(error.cause, EngineUnusable):  # it did not start
                raise error.cause from None
            raise WorkFailed(
                f"a worker failed: {error.cause or error}".splitlines()[0],
                "What was committed stays. Run again with --debug for more.",
            ) from error
        except ray.exceptions.RayError as error:  # its process, machine or result is gone
            yield from self._bury(actor, str(error))
            return
        if self.worker.side_by_side:
            wants = result if reference == actor.ready else result.chunks_now
            actor.wants = max(QUEUED, wants)
        if reference == actor.ready:
            actor.ready = None
            self.failed_starts = 0
            self.ready_at = self.ready_at or time.monotonic()
            return
        actor.work = deque((r, chunk) for r, chunk in actor.work if r != reference)
        self.answered = True
        self.deaths_in_a_row = 0
        yield self._account(result)

    def _account(self, done: "_Done") -> Any:
        """A chunk's account. Where the engine could not go on, nothing more is begun."""
        if used := {entry.reply_id for entry in done.account.replies.recalled}:
            self.known = [entry for entry in self.known if entry.reply_id not in used]
        if done.trouble and not self.trouble:
            self.trouble, self.stopping = done.trouble, True
            self._cancel_queued()
        return done.account

    def _bury(self, actor, reason: str) -> Iterator[Any]:
        """An actor died: its chunks go back, and another takes its place."""
        import ray

        self.actors.remove(actor)
        ray.kill(actor.handle)  # it may only have been out of reach
        chunks = []
        for reference, chunk in actor.work:
            try:
                yield self._account(ray.get(reference, timeout=0))
                self.answered, self.deaths_in_a_row = True, 0
            except ray.exceptions.RayError:  # it was at work, or waited
                chunks.append(chunk)
        # what it was answered before it died is given to the one that takes its place
        self.known += self.log.of_chunks(chunk.id for chunk in chunks)
        self.deaths_in_a_row += 1
        if self.deaths_in_a_row >= (PATIENCE if self.answered else PATIENCE_AT_FIRST):
            raise WorkFailed(
                f"{self.deaths_in_a_row} workers gave up one after the other, whatever they were "
                f"asked: {reason.splitlines()[0]}",
                "What was committed stays. Is there memory enough? Try actors = 1.",
            )
        if actor.ready is not None:
            self.failed_starts += 1
            if self.failed_starts >= TRIES:
                raise WorkFailed(
                    f"{TRIES} workers died while loading the engine: {reason.splitlines()[0]}",
                    "Is there memory enough for the model? Try actors = 1.",
                )
        elif chunks and machines.LOST not in reason:
            yield from self._suspect(chunks, reason)
        # what may have killed it comes last: the rest should not wait for it
        suspects = [chunk for chunk in chunks if chunk.id in self.deaths]
        self.waiting.extendleft(chunk for chunk in reversed(chunks) if chunk.id not in self.deaths)
        self.suspects.extend(suspects)
        if not self.stopping:
            self._hire()

    def _suspect(self, chunks: list[Chunk], reason: str) -> Iterator[Any]:
        """The first chunks were at work when their actor died. Changes the list in place."""
        first, *others = chunks[: self.at_once]
        if others:  # any of them: each is tried alone before it is blamed
            self.deaths = {chunk.id: 1 for chunk in (first, *others)} | self.deaths
            return
        deaths = self.deaths[first.id] = self.deaths.get(first.id, 0) + 1
        if first.n_prompts == 1 and deaths >= TRIES:
            why = f"{TRIES} workers gave up over this pair: {reason.splitlines()[0]}"
            chunks.pop(0)
            yield self.worker.died(first, why)
        elif first.n_prompts > 1 and deaths >= DEATHS_BEFORE_HALVING:
            halves = first.halves()
            for half in halves:  # a half has one death on its account already
                self.deaths[half.id] = 1
            chunks[:1] = halves

    def _hire(self) -> None:
        self._start(_actor_class().options(**self.options).remote())

    def _start(self, handle: Any) -> None:
        """Have an actor load the engine."""
        started = handle.start.remote(self.worker, self.log.place, self.known)
        self.actors.append(_Actor(handle, started))


def _actor_class():
    import ray

    @ray.remote
    class Grade:
        """What runs in the actor's process."""

        def start(self, worker: Any, place: Place, known: list[LogEntry]) -> int:
            """Load the engine; how many chunks it wants. Raises `EngineUnusable` when that cannot
            be done."""
            self.worker, self.engine = worker, engine_finder.started(worker.grader)
            self.recorder = Recorder(self.engine, place, known)
            return self.engine.chunks_now()

        def grade(self, chunk: Any) -> _Done:
            asking, trouble = Asking(self.recorder, chunk.id), None
            try:
                account = self.worker.grade(asking, chunk)
                account.replies = asking.close()
            except EngineUnusable as error:
                trouble, account = error, self.worker.partly(asking, chunk)
                account.replies = asking.broken_off()
            account.notes = [without_halves(note) for note in self.engine.notes]
            account.stack = self.engine.stack()
            return _Done(account, trouble, self.engine.chunks_now())

    return Grade
