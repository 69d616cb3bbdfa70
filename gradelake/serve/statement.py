"""A person's statement, in a process of its own with hard limits: it cannot end the server.

DuckDB's own limits are not enough. Some functions look at no interrupt (`levenshtein` of two long
texts runs for minutes), some ask the system for memory past `memory_limit`, and some end the whole
process (JSON nested a million deep). So the kernel keeps the limits: of memory, and of time by an
alarm that nobody can catch, which holds even after the server itself was killed.
"""

import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from starlette.exceptions import HTTPException

from gradelake.serve import found_rows
from gradelake.sql.ask import confined, question
from gradelake.sql.common.errors import BadInput, GradelakeError, WorkFailed
from gradelake.sql.common.plain_words import RanOut
from gradelake.sql.common.project import Project
from gradelake.sql.lake.opening import Lake

SECONDS = 30.0  # for a statement, with the opening of its release
_MEMORY = 3 << 30  # bytes of addresses: DuckDB's 1 GB, its libraries, and room to say what is wrong
_LARGEST = 64_000_000  # letters of a CSV or JSON file
_at_once = threading.BoundedSemaphore(2)  # statements that run: one may use all cores


@dataclass
class Found:
    """What a statement found: a page's rows, or a whole file."""

    columns: list[str] = field(default_factory=list)
    rows: list[list] = field(default_factory=list)
    more: bool = False
    file: list[str] = field(default_factory=list)


def run(project: Project, release: str | None, sql: str, format_: str) -> Found:
    """Run one statement over a release (None: the newest), for a page or for a file of `TYPES`.

    Raises `BadInput` for a statement that may not run, cannot be run, or goes past a limit, and
    HTTP 503 where two are running.
    """
    if not _at_once.acquire(blocking=False):
        raise HTTPException(503, "Two statements are running already: try again in a moment.")
    started = time.monotonic()
    try:
        server = get_context("forkserver")
        server.set_forkserver_preload([__name__])
        ours, theirs = server.Pipe(duplex=False)
        process: Any = server.Process(
            target=_run, args=(theirs, SECONDS, project, release, sql, format_), daemon=True
        )
        process.start()
        theirs.close()
        with ours:
            found = ours.recv()
    except EOFError:  # it was ended
        if time.monotonic() - started >= SECONDS:
            raise BadInput(f"timed out after {SECONDS:g} s", "Select less.") from None
        raise BadInput(
            "this statement ended the process that ran it",
            "Nothing else was affected. Select less, or write it in another way.",
        ) from None
    finally:
        _at_once.release()
    if isinstance(found, GradelakeError):
        raise found
    return found


def _run(
    answer: Connection,
    seconds: float,
    project: Project,
    release: str | None,
    sql: str,
    format_: str,
) -> None:
    """In the process of the statement. The alarm ends it, whatever it does."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.nice(5)  # pages come first
    found: Found | GradelakeError
    try:
        found = _found(project, release, sql, format_)
    except (MemoryError, RanOut):
        found = BadInput("this needs more memory or disk than a statement may use", "Select less.")
    except GradelakeError as error:
        found = error
    except Exception as error:
        found = WorkFailed(f"{type(error).__name__}: {error}")
    answer.send(found)


def _found(project: Project, release: str | None, sql: str, format_: str) -> Found:
    with Lake.published(project, release) as lake:
        lake.connection.execute("set memory_limit = '1GB'; set max_temp_directory_size = '4GB'")
        confined.prepare(lake, allow_files=False)
        found = question.rows(lake, question.one_statement(sql))
        if format_ in found_rows.TYPES:
            return Found(file=_limited(found_rows.pieces(found, format_)))
        return Found(found.columns, *found_rows.first(found))


def _limited(pieces: Iterator[str]) -> list[str]:
    """A file that fits into memory. Raises `BadInput` for another."""
    kept, size = [], 0
    for piece in pieces:
        kept.append(piece)
        size += len(piece)
        if size > _LARGEST:
            raise BadInput(
                f"a file of this is larger than {_LARGEST // 1_000_000} MB",
                "Select less, or part by part: limit, offset, where.",
            )
    return kept
