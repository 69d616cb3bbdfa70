"""What strangers ask for, in a process of its own with hard limits: it cannot end who asked for it,
nor go on after its time, or after who asked is gone.

DuckDB's own limits are not enough. Some functions look at no interrupt (`levenshtein` of two long
texts runs for minutes), some ask the system for memory past `memory_limit`, and some end the whole
process (JSON nested a million deep). So the kernel keeps the limits: of memory, and of time by an
alarm that nobody can catch, which holds even after who asked was killed.
"""

import os
import resource
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from gradelake.sql.ask import confined
from gradelake.sql.common.errors import BadInput, GradelakeError, WorkFailed
from gradelake.sql.common.plain_words import RanOut
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

T = TypeVar("T")
SECONDS = 30.0  # for what is asked, with the opening of its release
AT_ONCE = 2  # one may use all cores
_MEMORY = 3 << 30  # bytes of addresses: DuckDB's 1 GB, its libraries, and room to say what is wrong


@contextmanager
def limited(seconds: float, work: Callable[..., T], *arguments: Any) -> Iterator[Callable[[], T]]:
    """Begin `work(*arguments)` in its process, which ends with the `with`; what is given waits for
    what it returns. That raises `BadInput` where it cannot be done, or goes past a limit."""
    server = get_context("forkserver")
    server.set_forkserver_preload([work.__module__])
    ours, theirs = server.Pipe(duplex=False)
    process: Any = server.Process(target=_run, args=(theirs, seconds, work, arguments), daemon=True)
    started = time.monotonic()
    process.start()
    theirs.close()

    def result() -> T:
        try:
            found = ours.recv()
        except EOFError:  # it was ended
            if time.monotonic() - started >= seconds:
                raise BadInput(f"timed out after {seconds:g} s", "Select less.") from None
            raise BadInput(
                "this statement ended the process that ran it",
                "Nothing else was affected. Select less, or write it in another way.",
            ) from None
        if isinstance(found, GradelakeError):
            raise found
        return found

    try:
        yield result
    finally:
        process.kill()
        process.join()
        ours.close()


@contextmanager
def release(project: Project, name: str | None) -> Iterator[Lake]:
    """A release (None: the newest) for statements that strangers write."""
    with Lake.published(project, name) as lake:
        lake.connection.execute("set memory_limit = '1GB'; set max_temp_directory_size = '4GB'")
        confined.prepare(lake, allow_files=False)
        yield lake


def _run(
    answer: Connection, seconds: float, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """Run it in the process. The alarm ends it, whatever it does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is of who asked
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.nice(5)  # what is shown comes first
    threading.Thread(target=_end_with_who_asked, args=(answer,), daemon=True).start()
    found: Any
    try:
        found = work(*arguments)
    except (MemoryError, RanOut):
        found = BadInput("this needs more memory or disk than a statement may use", "Select less.")
    except GradelakeError as error:
        found = error
    except Exception as error:
        found = WorkFailed(f"{type(error).__name__}: {error}")
    answer.send(found)


def _end_with_who_asked(answer: Connection) -> None:
    """Wait until nobody can read the answer, and end this process."""
    gone = select.poll()
    gone.register(answer.fileno(), 0)  # errors and hang-ups are always told
    gone.poll()
    os._exit(1)
