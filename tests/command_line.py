"""The command line, run in the tests' own process or in one of its own.

A process of its own spends a second on imports, and a build three; only what is about the process
itself (signals, terminals, locales, broken pipes, imports, kills) needs one.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any
from unittest import mock

from gradelake.analyses.report.files import Reports
from gradelake.app import main
from gradelake.nightly import night, step
from gradelake.sql.common import console

step._FORKER = get_context("forkserver")  # this process has threads
step._FORKER.set_forkserver_preload(["gradelake.app", "gradelake.nightly.night"])
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_UNSEEN = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


def run(
    folder: Path,
    *arguments: str,
    given: str | bytes = "",
    together: bool = False,
    **environment: str,
) -> subprocess.CompletedProcess:
    """Run the command line in `folder`, in this process, which is afterwards as it was.

    `given` is its standard input; `together` sends its errors where its output goes.
    """
    with (
        tempfile.TemporaryFile() as in_,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        in_.write(given if isinstance(given, bytes) else given.encode())
        in_.seek(0)
        with (
            mock.patch.dict(os.environ, environment),
            mock.patch.object(sys, "argv", ["gradelake", *arguments]),
            mock.patch.object(sys.modules["__main__"], "__package__", None),  # `Usage:` has it
            contextlib.chdir(folder),
            _signals_kept(),
            _streams(in_, out, out if together else err),
            _warnings_on_standard_error(),
        ):
            code = _code()
        return subprocess.CompletedProcess(arguments, code, _text(out), _text(err))


def gradelake(
    folder: Path, *arguments: str, code: int = 0, given: str | bytes = "", **environment: str
) -> subprocess.CompletedProcess:
    """The same; fail with what it printed unless it leaves `code`."""
    done = run(folder, *map(str, arguments), given=given, **environment)
    assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def json_of(folder: Path, *arguments: str, **how: Any) -> Any:
    """The same; what the object says that it prints."""
    return json.loads(gradelake(folder, *arguments, **how).stdout)


def typed(folder: Path, line: str, code: int = 0) -> subprocess.CompletedProcess:
    """The same, as people type it: `gradelake LINE`."""
    return gradelake(folder, *shlex.split(line), code=code)


def a_night(folder: Path, *options: str, code: int = 0, writes: bool = False) -> dict:
    """What a night says whose steps are all done in this process. A report takes most of it: it is
    written where the test looks at one (`writes`)."""
    with (
        contextlib.nullcontext() if writes else mock.patch.object(night, "_report", _no_report),
        mock.patch.object(step, "forker", contextlib.nullcontext),
        mock.patch.object(step, "_do_apart", step._do_here),
    ):
        done = gradelake(folder, "nightly", "--json", *options, code=code)
    (line,) = done.stdout.splitlines()  # one JSON object, and nothing else
    return json.loads(line)


def _no_report(_project: object) -> Reports:
    return Reports()


def run_apart(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """The same in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "gradelake", *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    """The same, going on, in a process group of its own: for what is killed or stopped."""
    return subprocess.Popen(
        [sys.executable, "-m", "gradelake", *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _code() -> int:
    try:
        main()
    except SystemExit as left:
        if left.code == 130:  # it was for the tests
            raise KeyboardInterrupt from None
        return left.code or 0
    finally:
        console.loudness.__init__()
    return 0


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    handlers, hook = [signal.getsignal(number) for number in _SIGNALS], sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in zip(_SIGNALS, handlers, strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def _streams(*files: IO[bytes]) -> Iterator[None]:
    """This process's standard streams, and those of the processes that it starts."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(number) for number in range(3)]
    streams = sys.stdin, sys.stdout, sys.stderr
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False)
        for number in range(3)
    )
    sys.stderr.reconfigure(line_buffering=True)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextlib.contextmanager
def _warnings_on_standard_error() -> Iterator[None]:
    """Where a process of its own would print them, and not in pytest's summary."""
    with warnings.catch_warnings(record=True) as noticed:
        for category in _UNSEEN:
            warnings.simplefilter("ignore", category)
        yield
    for each in noticed:
        text = warnings.formatwarning(each.message, each.category, each.filename, each.lineno)
        sys.stderr.write(text)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").replace("\r\n", "\n")
