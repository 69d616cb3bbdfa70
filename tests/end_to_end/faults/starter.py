"""Commands in processes that begin at once: one that has imported everything forks for each.

A command may be told to stop at a point of its work; whoever watches it breaks something, and lets
it go on.
"""

import contextlib
import faulthandler
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

# what a command is about to do when it stops: the function that does it
POINTS = {
    "reads its file": "gradelake.sql.common.files:read",
    "begins a statement": "gradelake.sql.lake.transaction:Transaction.run",
    "commits": "gradelake.sql.lake.transaction:Transaction.finish",
    "has committed": "gradelake.sql.lake.opening:Lake._hash_what_is_new",
    "publishes": "gradelake.sql.releases.publishing:publish",
    "gives readers a release": "gradelake.sql.releases.publishing:link_published",
    "renames a file": "os:replace",
    "deletes a file": "os:unlink",
    "copies a file": "shutil:copyfileobj",
}


SAYS_WHERE = 200  # seconds until a command that does not end says where it is
HUNG = -99  # the exit code of a command that had to be killed


class Job:
    """A command at work, begun now; `at` says where it stops: (point, which time)."""

    def __init__(self, starter: "Starter", folder: Path, words: list[str], **more: Any):
        self.starter = starter
        self.stopped = starter.folder / "stopped"
        has_begun = starter.folder / "begun"
        for file in (self.stopped, has_begun):
            file.unlink(missing_ok=True)
        self.code: int | None = None
        self._lock = threading.Lock()
        self.pid = starter.ask({"folder": str(folder), "words": words, **more})["pid"]
        self.begun = time.monotonic()
        while self.running and not has_begun.exists():  # a signal is for the command alone
            time.sleep(0.001)
        self.begun = time.monotonic()

    @property
    def running(self) -> bool:
        with self._lock:
            if self.code is None and (answer := self.starter.answer(0)):
                self.code = answer["code"]
                self.seconds = time.monotonic() - self.begun
            return self.code is None

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.running:
                os.kill(self.pid, number)

    def wait(self, at: tuple[str, int] | None, seconds: float) -> bool:
        """Until it stops at its point, or so long; returns whether it is there."""
        until = time.monotonic() + (600 if at else seconds)
        while self.running and time.monotonic() < until:
            # between its mark and its halt a signal to go on would be lost
            if at and self.stopped.exists() and self._halts():
                return True
            time.sleep(0.005)
        return self.running

    def _halts(self) -> bool:
        """Whether the system has it stopped."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        return False

    def end(self, seconds: float) -> tuple[int, str]:
        """(exit code, all it said); a command that takes longer hangs, and is killed."""
        while self.running and time.monotonic() < self.begun + seconds:
            time.sleep(0.01)
        if hung := self.running:
            self.signal(signal.SIGKILL)
        while self.running:
            time.sleep(0.01)
        assert self.code is not None
        said = (self.starter.folder / "said").read_text(errors="replace")
        return (HUNG, f"{said}\nit hung") if hung else (self.code, said)

    def come(self) -> Counter[str]:
        """How often it came to each point."""
        return Counter((self.starter.folder / "come").read_text().splitlines())


class Starter:
    """The process that forks. `environment` is what all commands find in theirs."""

    def __init__(self, environment: dict[str, str]):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)  # of what commands are given and say
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.end_to_end.faults.starter", self._folder.name],
            cwd=Path(__file__).parents[3],
            env=os.environ | {"PYTHONWARNINGS": "ignore"} | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        os.set_blocking(self._out.fileno(), False)
        self._rest = b""

    @property
    def _out(self) -> IO[bytes]:
        assert self.process.stdout
        return self.process.stdout

    def ask(self, what: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(what).encode() + b"\n")
        self.process.stdin.flush()
        if (answer := self.answer(60)) is None:
            raise RuntimeError("the process that forks is gone")
        return answer

    def answer(self, seconds: float) -> dict[str, Any] | None:
        """What it says next, if it does within so many seconds."""
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            self._rest += self._out.read() or b""
            if b"\n" not in self._rest:
                if time.monotonic() >= until:
                    return None
                time.sleep(0.005)
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def __enter__(self) -> "Starter":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()
        self._folder.cleanup()


def _watch(ours: Path, at: list | None) -> None:
    """Write down each point that this process comes to, and stop at one for that time."""
    come = os.open(ours / "come", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    times: Counter[str] = Counter()

    def watched(point: str, does: Callable) -> Callable:
        @functools.wraps(does)
        def stops(*arguments, **named):
            times[point] += 1
            os.write(come, f"{point}\n".encode())
            if [point, times[point]] == at:
                (ours / "stopped").touch()
                os.kill(os.getpid(), signal.SIGSTOP)
            return does(*arguments, **named)

        return stops

    for point, place in POINTS.items():
        module, _, path = place.partition(":")
        *owners, name = path.split(".")
        owner = functools.reduce(getattr, owners, import_module(module))
        setattr(owner, name, watched(point, getattr(owner, name)))


def _be(ours: Path, folder: str, words: list[str], given: str = "", at: list | None = None) -> None:
    """Become the command."""
    from gradelake.app import main

    os.chdir(folder)
    (ours / "given").write_text(given)
    for number, (name, mode) in enumerate((("given", "r"), ("said", "w"), ("said", "a"))):
        with (ours / name).open(mode) as file:
            os.dup2(file.fileno(), number)
    _watch(ours, at)
    sys.argv = ["gradelake", *words]
    faulthandler.dump_traceback_later(SAYS_WHERE)
    (ours / "begun").touch()
    main()


def _serve(ours: Path) -> None:
    watched = (place.partition(":")[0] for place in POINTS.values())
    for module in ("gradelake.app", "polars", "psycopg", *watched):
        import_module(module)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in iter(sys.stdin.buffer.readline, b""):
        if not (child := os.fork()):
            try:
                _be(ours, **json.loads(line))
                code = 0
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else bool(left.code)
            except BaseException:
                traceback.print_exc()
                code = 70
            with contextlib.suppress(OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)
        answers.write(json.dumps({"pid": child}) + "\n")
        _, status = os.waitpid(child, 0)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
