"""All that the server writes and builds, one after another in one thread.

Locks of the lake are per process: two threads of one would both walk through. dbt, which compiles
the models, has one state for a process, as well. Work that only starts another process has a thread
of its own (`beside`).
"""

import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gradelake.sql.common import console
from gradelake.sql.common.errors import Busy, GradelakeError
from gradelake.sql.common.plain_words import in_plain_words

T = TypeVar("T")
_KEPT = 200  # jobs that are remembered
_PATIENCE = 60.0  # seconds that a page waits for its turn
GRACE = 5.0  # seconds that what is at work has when the server ends


@dataclass(eq=False)
class Job:
    """Some work: waiting, running, done, failed, or stopped before it began.

    `error` and `hint` are for people; `progress` is how far it is, `done` of `total` in numbers.
    `about` is whatever its pages need.
    """

    what: str
    work: Callable[["Job"], Any] = field(repr=False)
    about: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: str = "waiting"
    progress: str = ""
    done: int = 0
    total: int = 0
    result: Any = None
    error: str = ""
    hint: str | None = None
    raised: BaseException | None = field(default=None, repr=False)
    stop: Callable[[], None] | None = field(default=None, repr=False)  # of one that can be
    _ended: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        return self._ended.wait(seconds)

    def outcome(self) -> Any:
        """The result of one that ended. Raises what it raised."""
        if self.raised:
            raise self.raised
        return self.result

    def run(self) -> None:
        self.state = "running"
        try:
            self.result = self.work(self)
            self.state = "done"
        except BaseException as error:  # the thread goes on with the next
            self.raised = error
            known = error if isinstance(error, GradelakeError) else None
            if isinstance(error, Exception):
                known = known or in_plain_words(error)
            if known is None:
                console.warn(f"error of {self.what!r}: {type(error).__name__}: {error}")
            self.error = known.message if known else "Something went wrong here."
            self.hint = known.hint if known else "The server's terminal says what."
            self.state = "failed"
        finally:
            self._ended.set()

    def end_unbegun(self) -> None:
        """Of one that will not be done any more."""
        self.state = "stopped"
        self.raised = GradelakeError(f"{self.what}: not begun")
        self._ended.set()


class Writer:
    """Does jobs in the order they came, those that go `ahead` before all others that wait."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._ahead: deque[Job] = deque()
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._running: Job | None = None
        self._beside: set[Job] = set()
        self._ends = False
        # a daemon, for a build may take longer than whoever ends the server has patience
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def submit(
        self, what: str, work: Callable[[Job], Any], ahead: bool = False, **about: Any
    ) -> Job:
        """Have something done; returns at once. `work` is given its job, to tell its progress.

        Raises `GradelakeError` when the server is ending.
        """
        job = Job(what, work, about)
        with self._changed:
            self._keep(job)
            (self._ahead if ahead else self._waiting).append(job)
            self._changed.notify()
        return job

    def in_turn(self, what: str, work: Callable[[], T]) -> T:
        """What the work gives, done before all that waits. Raises `Busy` when its turn does not
        come within a minute, and what the work raises."""
        job = self.submit(what, lambda _: work(), ahead=True)
        if not job.wait(_PATIENCE) and self.forgo(job):
            raise Busy(
                "another build is still running; nothing was saved", "Try again when it is done."
            )
        job.wait()
        return job.outcome()

    def beside(self, what: str, work: Callable[[Job], Any], **about: Any) -> Job:
        """Have something done at once, that writes nothing in this process."""
        job = Job(what, work, about)

        def alone() -> None:
            try:
                job.run()
            finally:
                with self._changed:
                    self._beside.discard(job)

        with self._changed:
            self._keep(job)
            self._beside.add(job)
        threading.Thread(target=alone, name=what, daemon=True).start()
        return job

    def job(self, id_: str) -> Job | None:
        """A job of late; None of one that is not known (any more)."""
        return self._jobs.get(id_)

    def recent(self, **about: Any) -> list[Job]:
        """Those with these values in `about`, newest first."""
        with self._changed:
            jobs = list(self._jobs.values())
        return [job for job in reversed(jobs) if about.items() <= job.about.items()]

    def forgo(self, job: Job) -> bool:
        """Whether a job had not begun, and now will not be."""
        with self._changed:
            for queue in (self._ahead, self._waiting):
                if job in queue:
                    queue.remove(job)
                    job.end_unbegun()
                    return True
        return False

    def close(self, seconds: float = GRACE) -> bool:
        """Begin nothing more; whether all that was at work ended in time. What did not is not in
        the lake: a build is one transaction, and its connection ends with the process."""
        with self._changed:
            self._ends = True
            waiting = [*self._ahead, *self._waiting]
            self._ahead.clear()
            self._waiting.clear()
            beside = list(self._beside)
            self._changed.notify()
        for job in waiting:
            job.end_unbegun()
        until = time.monotonic() + seconds
        for job in beside:
            if job.stop:
                job.stop()
        for job in beside:
            job.wait(max(0.0, until - time.monotonic()))
        self._thread.join(max(0.0, until - time.monotonic()))
        return not self.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether it is at work just now."""
        return self._running is not None or bool(self._beside)

    def _keep(self, job: Job) -> None:
        if self._ends:
            raise GradelakeError("the server is ending", "Try again when it is back.")
        if job.about:  # others have no page
            self._jobs[job.id] = job
        for old in list(self._jobs.values()):
            if len(self._jobs) <= _KEPT:
                break
            if old.has_ended:
                del self._jobs[old.id]

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (self._ahead or self._waiting or self._ends):
                    self._changed.wait()
                if self._ends:
                    return
                job = self._running = (self._ahead or self._waiting).popleft()
            job.run()
            with self._changed:
                self._running = None
