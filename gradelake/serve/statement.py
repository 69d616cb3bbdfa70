"""A person's statement, in a process of its own: it cannot end the server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException

from gradelake.serve import found_rows
from gradelake.sql.ask import limited, question
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import Project

SECONDS = limited.SECONDS
_LARGEST = 64_000_000  # letters of a CSV or JSON file
_at_once = threading.BoundedSemaphore(limited.AT_ONCE)


@dataclass
class FoundRows:
    """What a statement found: a page's rows, or a whole file."""

    columns: list[str] = field(default_factory=list)
    rows: list[list] = field(default_factory=list)
    more: bool = False
    file: list[str] = field(default_factory=list)


def run(project: Project, release: str | None, sql: str, format_: str) -> FoundRows:
    """Run one statement over a release (None: the newest), for a page or for a file of `TYPES`.

    Raises `BadInput` for a statement that may not run, cannot be run, or goes past a limit, and
    HTTP 503 where two are running.
    """
    asked = (project, release, sql, format_)
    with one_of_few(), limited.limited(SECONDS, _found, *asked) as result:
        return result()


@contextmanager
def one_of_few() -> Iterator[None]:
    """Hold one of the places for what takes long. Raises HTTP 503 where none is free."""
    if not _at_once.acquire(blocking=False):
        raise HTTPException(503, "Two statements are running already: try again in a moment.")
    try:
        yield
    finally:
        _at_once.release()


def _found(project: Project, release: str | None, sql: str, format_: str) -> FoundRows:
    with limited.release(project, release) as lake:
        found = question.rows(lake, question.one_statement(sql))
        if format_ in found_rows.TYPES:
            return FoundRows(file=_limited(found_rows.pieces(found, format_)))
        return FoundRows(found.columns, *found_rows.first(found))


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
