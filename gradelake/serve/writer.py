"""All that the server writes and builds, one after another in one thread.

Locks of the lake are per process: two threads of one would both walk through. dbt, which compiles
the models, has one state for a process, as well. Work that only starts another process has a thread
of its own (`beside`).
"""

import itertools
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from datetime import datetime
from queue import PriorityQueue
from typing import Any, TypeVar

from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import Busy, GradelakeError
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.lake.transaction import acts_for

T = TypeVar("T")
_KEPT = 200  # jobs that are remembered
_PATIENCE = 60.0  # seconds that a page waits for its turn
GRACE = 5.0  # seconds that what is at work has when the server ends


@dataclass(eq=False)
class Job:
    """Some work: waiting, running, done, failed, or stopped before it began.

    `error` and `hint` are for people; `progress` is how far it is, `done` of `total` in numbers.
    `about` is whatever its pages need, and who began it as `by`; `outcome` has what the work gave
    or raised.
    """

    what: str
    work: Callable[["Job"], Any] = field(repr=False)
    about: dict[str, Any] = field(default_factory=dict)
    at: datetime = field(default_factory=utc_now)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    state: str = "waiting"
    progress: str = ""
    done: int = 0
    total: int = 0
    error: str = ""
    hint: str | None = None
    stop: Callable[[], None] | None = field(default=None, repr=False)  # of one that can be
    outcome: Future = field(default_factory=Future, repr=False)

    @property
    def has_ended(self) -> bool:
        return self.outcome.done()

    @property
    def result(self) -> Any:
        return self.outcome.result()

    def run(self) -> None:
        acts_for.set(self.about.get("by"))
        try:
            result = self.work(self)
            self.state = "done"
            self.outcome.set_result(result)
        except BaseException as error:  # the thread goes on with the next
            known = error if isinstance(error, GradelakeError) else None
            if isinstance(error, Exception):
                known = known or in_plain_words(error, ours=True)
            if known is None:
                console.warn(f"error of {self.what!r}: {type(error).__name__}: {error}")
            self.error = known.message if known else "Something went wrong here."
            self.hint = known.hint if known else "See the server's terminal."
            self.state = "failed"
            self.outcome.set_exception(error)


class Writer:
    """Does jobs in the order they came, those that go `ahead` before all others that wait."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: PriorityQueue[tuple[bool, int, Job | None]] = PriorityQueue()
        self._number = itertools.count()
        self._at_work: set[Job] = set()
        self._lock = threading.Lock()
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
        with self._lock:
            self._keep(job)
            self._waiting.put((not ahead, next(self._number), job))
        return job

    def in_turn(self, what: str, work: Callable[[], T]) -> T:
        """What the work gives, done before all that waits. Raises `Busy` when its turn does not
        come within a minute, and what the work raises."""
        job = self.submit(what, lambda _: work(), ahead=True)
        if not wait([job.outcome], _PATIENCE).done and self.forgo(job):
            raise Busy(
                "another build is still running; nothing was saved", "Try again when it is done."
            )
        return job.result

    def beside(self, what: str, work: Callable[[Job], Any], **about: Any) -> Job:
        """Have something done at once, that writes nothing in this process."""
        job = Job(what, work, about)
        with self._lock:
            self._keep(job)
        threading.Thread(target=self._do, args=(job,), name=what, daemon=True).start()
        return job

    def job(self, id_: str) -> Job | None:
        """A job of late; None of one that is not known (any more)."""
        return self._jobs.get(id_)

    def recent(self, **about: Any) -> list[Job]:
        """The jobs with these values in `about`, newest first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job for job in reversed(jobs) if about.items() <= job.about.items()]

    def forgo(self, job: Job) -> bool:
        """Whether a job had not begun, and now will not be."""
        with self._lock:
            if job.state != "waiting":
                return False
            job.state = "stopped"
        job.outcome.set_exception(GradelakeError(f"{job.what}: not begun"))
        return True

    def close(self, seconds: float = GRACE) -> bool:
        """Begin nothing more; whether all that was at work ended in time. What did not is not in
        the lake: a build is one transaction, and its connection ends with the process."""
        with self._lock:
            self._ends = True
            at_work = list(self._at_work)
        for _, _, job in list(self._waiting.queue):
            if job:
                self.forgo(job)
        self._waiting.put((False, -1, None))
        until = time.monotonic() + seconds
        for job in at_work:
            if job.stop:
                job.stop()
        wait([job.outcome for job in at_work], max(0.0, until - time.monotonic()))
        self._thread.join(max(0.0, until - time.monotonic()))
        return not self.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether it is at work just now."""
        return bool(self._at_work)

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
        while job := self._waiting.get()[2]:
            self._do(job)

    def _do(self, job: Job) -> None:
        if self._ends:
            self.forgo(job)
        with self._lock:
            if job.state != "waiting":
                return
            job.state = "running"
            self._at_work.add(job)
        job.run()
        with self._lock:
            self._at_work.discard(job)
