"""One step of a night: a function that a command calls, too, called here or in another process."""

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe, get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from gradelake.sql.common import console
from gradelake.sql.common.errors import GradelakeError, WorkFailed
from gradelake.sql.common.interrupts import heed_ctrl_c, interrupt, is_interruption
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.common.problems import Problem
from gradelake.sql.common.results import as_object

GRACE = 120.0  # seconds that a step gets to finish its work, once it was asked to stop
DONE, PARTLY, FAILED, SKIPPED, STOPPED = "done", "partly", "failed", "skipped", "stopped"
MAX_REASON = 1000  # characters
_FORKED: Any = get_context("fork")
_FORKER: Any = _FORKED  # tests, whose process has threads, start the forker in another way
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
Work = Callable[[], Any]  # returns what a command shows, with the exit code that it leaves with


@dataclass
class Step:
    """What came of a step. `result` is the object that the command prints with `--json`."""

    name: str
    state: str  # done, partly (some input or grade was refused), failed, skipped or stopped
    seconds: float = 0.0
    exit_code: int | None = None
    result: dict[str, Any] | None = None
    reason: str | None = None  # why it failed or was left out

    @property
    def landed(self) -> bool:
        return self.state in (DONE, PARTLY)


class Stop:
    """Whether the night was asked to stop (SIGINT, SIGTERM), and how impatiently: the second time
    the step at work is killed, the third time the night leaves without closing its row.

    `interrupts`: a step is at work in this process, which is interrupted as by Ctrl-C. `forker`: to
    the process that forks the others.
    """

    def __init__(self, forker: Connection | None = None) -> None:
        self.forker = forker
        self.times = 0
        self.since = 0.0
        self.interrupts = False

    def __call__(self) -> None:
        self.times += 1
        self.since = self.since or time.monotonic()
        if self.interrupts or self.times > 2:
            interrupt()

    def is_over(self) -> bool:
        """Whether a step that was asked to stop is to be killed."""
        return self.times > 1 or (self.times > 0 and time.monotonic() - self.since > GRACE)


def run(name: str, work: Work, stop: Stop, apart: bool) -> Step:
    """Call a function here, or, where it may die, `apart`: it crashes there, or is killed for its
    memory, and takes nothing along. Then it can be pickled, and dies with the night."""
    if stop.times > 0:
        return Step(name, SKIPPED, reason="the night was stopped before")
    console.tell(f"{name} ...")
    started = time.monotonic()
    step = (_do_apart if apart else _do_here)(name, work, stop)
    step.seconds = round(time.monotonic() - started, 1)
    if stop.times and not step.landed:
        step.state, step.reason = STOPPED, "it was stopped; the next night goes on with it"
    return step


def known(error: Exception) -> GradelakeError:
    """An error in words for people."""
    if isinstance(error, GradelakeError):
        return error
    return in_plain_words(error) or WorkFailed(f"{type(error).__name__}: {error}")


def shortened(reason: object) -> str:
    """A reason, for a summary that goes out of the house."""
    text = str(reason)
    return text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]} ..."


def refusal(rejected: dict[str, Any]) -> str:
    """The first problem of an input that an ingest refused."""
    return str(Problem(**rejected["problems"][0]))


def _refusals(result: dict[str, Any]) -> str:
    """Why a step failed that has a result: an ingest, a sentinel or a report."""
    if result.get("rejected"):
        return refusal(result["rejected"][0])
    graders = [f"{each['grader']}: {each['reason']}" for each in result.get("failed_graders", ())]
    return "\n".join([*graders, *result.get("refused", ())])


def _do_here(name: str, work: Work, stop: Stop) -> Step:
    try:
        stop.interrupts = True
        if stop.times:  # it was asked after the step was announced
            interrupt()
        return _done(name, work)
    except KeyboardInterrupt:  # before it began, or after it ended
        return Step(name, STOPPED, exit_code=130)
    finally:
        stop.interrupts = False


def _done(name: str, work: Work) -> Step:
    try:
        result = work()
    except BaseException as raised:
        if is_interruption(raised):
            return Step(name, STOPPED, exit_code=130)
        if not isinstance(raised, Exception):
            raise
        error = known(raised)
        console.warn(f"error: {error}")
        return Step(name, FAILED, exit_code=error.exit_code, reason=shortened(error))
    step = Step(name, DONE, 0.0, getattr(result, "exit_code", 0), console.plain(as_object(result)))
    if step.exit_code:
        step.state = PARTLY if step.exit_code == 3 else FAILED
        step.reason = None if step.landed else shortened(_refusals(step.result or {}))
    return step


@contextmanager
def forker() -> Iterator[Connection]:
    """A process that forks the steps that are done apart, while inside. It has what this process
    imported until now, which may not have done more yet: forks of threads do not go on."""
    ours, theirs = Pipe()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # they are for the night alone
    process = _FORKER.Process(target=_fork, args=(ours, theirs))
    process.start()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join()


def _fork(others: Connection, night: Connection) -> None:
    """Fork a process for each step that the night sends; say its id, what it answered, and its
    exit code. When the night is gone this process ends, and with it the step at work."""
    others.close()
    with suppress(EOFError, OSError):  # whenever the night goes
        while True:
            asked = night.recv_bytes()
            ours, theirs = Pipe(duplex=False)
            process = _FORKED.Process(target=_apart, args=(theirs, asked))
            process.start()
            theirs.close()
            night.send(process.pid)
            if night in wait([night, ours]):
                break
            answer = None
            with suppress(EOFError, OSError), ours:  # it died, perhaps as it spoke
                answer = ours.recv()
            night.send(answer)
            if night in wait([night, process.sentinel]):
                break
            process.join()
            night.send(process.exitcode)
    os._exit(0)  # waits for no step


def _do_apart(name: str, work: Work, stop: Stop) -> Step:
    """Do a step in a process of its own, which gets SIGINT once when the night is asked to stop,
    and is killed if it has not ended in time."""
    assert stop.forker
    stop.forker.send((dict(os.environ), console.loudness, name, work))
    pid = stop.forker.recv()
    asked = False
    while not stop.forker.poll(0.1):
        if stop.times and not asked:
            asked = True
            os.kill(pid, signal.SIGINT)  # not its group: its workers finish their work
        if asked and stop.is_over():
            with suppress(ProcessLookupError):  # it has no group of its own yet
                os.killpg(pid, signal.SIGKILL)
    answer = stop.forker.recv()
    if not stop.forker.poll(GRACE):  # it said all, and does not leave: the night would wait for it
        os.killpg(pid, signal.SIGKILL)
    code = stop.forker.recv()
    if answer:
        return answer
    reason = f"it left with exit code {code} and said nothing"
    if code < 0:
        reason = f"it was killed by {signal.Signals(-code).name}"
        reason += " (was there too little memory?)" if code == -signal.SIGKILL else ""
    return Step(name, FAILED, exit_code=code, reason=reason)


def _apart(answer: Connection, asked: bytes) -> None:
    os.setsid()
    os.dup2(2, 1)  # what is printed is no result
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell puts behind
    heed_ctrl_c()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    threading.Thread(target=_die_with_the_night, daemon=True).start()
    environment, console.loudness, name, work = pickle.loads(asked)
    os.environ.clear()
    os.environ.update(environment)  # what the forker has is older
    answer.send(_done(name, work))


def _die_with_the_night() -> None:
    night = parent_process()
    assert night is not None  # a step is nobody else's process
    night.join()
    os.killpg(0, signal.SIGKILL)
