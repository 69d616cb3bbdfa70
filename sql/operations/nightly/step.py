"""One step of a night: a Gradelake command as a process of its own, and how it is stopped.

A step that crashes, or is killed for its memory, takes neither the night nor the other steps along.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from gradelake.sql.common import console
from gradelake.sql.common.errors import GradelakeError
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.common.problems import Problem
from gradelake.sql.common.project import Project
from gradelake.sql.lake.transaction import NIGHT
from gradelake.sql.operations.nightly import WEBHOOK

GRACE = 120.0  # seconds that a step gets to finish its work, once it was asked to stop
DONE, PARTLY, FAILED, SKIPPED, STOPPED = "done", "partly", "failed", "skipped", "stopped"
_TAIL = 40  # last lines of a step's words that are kept
MAX_REASON = 1000  # characters
_PR_SET_PDEATHSIG = 1


@dataclass
class Step:
    """What came of a step. `result` is the object that the command printed with `--json`."""

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
    the step at work is killed, the third time the night leaves without closing its row."""

    def __init__(self) -> None:
        self.times = 0
        self.since = 0.0

    def __call__(self, number: int, frame: object) -> None:
        self.times += 1
        self.since = self.since or time.monotonic()
        if self.times > 2:
            raise KeyboardInterrupt

    def is_over(self) -> bool:
        """Whether a step that was asked to stop is to be killed."""
        return self.times > 1 or (self.times > 0 and time.monotonic() - self.since > GRACE)


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Yields what SIGINT and SIGTERM set. To be used in the process's main thread."""
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(
    project: Project, arguments: list[str], night: str, stop: Stop, tell: Callable[[str], None]
) -> Step:
    """Run `gradelake ARGUMENTS --json` and wait for it.

    `night` is recorded with what the step commits; `tell` gets what it writes on standard error.
    Asked to stop, the step gets SIGINT once, and is killed when it has not left in time.
    """
    words = [arg for arg in arguments if not arg.startswith("-")]
    name = " ".join(words[:3])
    if stop.times:
        return Step(name, SKIPPED, reason="the night was stopped before")
    environment = {key: value for key, value in os.environ.items() if key != WEBHOOK}
    loudness = ["--quiet"] * console.loudness.quiet + ["--verbose"] * console.loudness.verbose
    command = [sys.executable, "-P", "-m", "gradelake", *loudness, "--config", str(project.file)]
    started = time.monotonic()
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            [*command, *arguments, "--json"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=project.folder,
            env=environment | {NIGHT: night},
            start_new_session=True,
            preexec_fn=_dies_with_us(),
        )
        tail: deque[str] = deque(maxlen=_TAIL)
        reader = threading.Thread(target=_pass_on, args=(process.stderr, tail, tell), daemon=True)
        reader.start()
        _wait(process, stop)
        reader.join(timeout=5)  # what a step leaves running may hold the pipe open
        seconds = round(time.monotonic() - started, 1)
        out.seek(0)
        result = _last_object(out)
    step = Step(name, DONE, seconds, process.returncode, result)
    _judge(step, list(tail), bool(stop.times))
    return step


def reason_of(error: Exception) -> str:
    """What an error says, for a summary that goes out of the house."""
    known = error if isinstance(error, GradelakeError) else in_plain_words(error)
    return str(known or f"{type(error).__name__}: {error}")[:MAX_REASON]


def _dies_with_us() -> Callable[[], None]:
    """What the new process does first: see to it that no step outlives a killed night."""
    libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
    parent = os.getpid()

    def prepare() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in what a shell puts behind it
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:  # killed in between
                os._exit(1)

    return prepare


def _wait(process: subprocess.Popen, stop: Stop) -> None:
    asked = False
    while True:
        try:
            process.wait(timeout=0.1)
            return
        except subprocess.TimeoutExpired:
            pass
        if stop.times and not asked:
            asked = True
            process.send_signal(signal.SIGINT)  # not to its group: its workers finish their work
        if asked and stop.is_over():
            os.killpg(process.pid, signal.SIGKILL)


def _pass_on(stream: IO[bytes], tail: deque[str], tell: Callable[[str], None]) -> None:
    for line in stream:
        text = line.decode(errors="replace").rstrip()
        tail.append(text)
        tell(text)


def refusal(rejected: dict[str, Any]) -> str:
    """The first problem of an input that an ingest refused."""
    first = rejected["problems"][0]
    return str(Problem(**first))


def _last_object(out: IO[bytes]) -> dict[str, Any] | None:
    lines = out.read().strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _judge(step: Step, words: list[str], was_stopped: bool) -> None:
    """Set a step's state and reason by its exit code and what it printed."""
    code = step.exit_code
    if code == 0 and step.result is not None:
        step.state = DONE
    elif code == 3 and step.result is not None:
        step.state = PARTLY
    elif was_stopped:
        step.state, step.reason = STOPPED, "it was stopped; the next night goes on with it"
    else:
        step.state, step.reason = FAILED, _reason(code, words, step.result)


def _reason(code: int | None, words: list[str], result: dict[str, Any] | None) -> str:
    """A command's own error message, or its last lines."""
    if result and result.get("rejected"):
        return refusal(result["rejected"][0])
    # what Python says about the semaphores of a process that was killed helps nobody
    words = [line for line in words if "resource_tracker" not in line]
    errors = [n for n, line in enumerate(words) if line.startswith("error: ")]
    last = words[errors[-1] :] if errors else words[-3:]
    text = "\n".join(last).removeprefix("error: ").strip()
    if code is not None and code < 0:
        killed = f"it was killed by {signal.Signals(-code).name}"
        hint = " (was there too little memory?)" if code == -signal.SIGKILL else ""
        text = f"{killed}{hint}\n{text}".strip()
    if len(text) > MAX_REASON:
        text = f"{text[:MAX_REASON]} ..."
    return text or f"it left with exit code {code} and said nothing"
