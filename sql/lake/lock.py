"""The writer's lock: one writer at a time on a lake, taken before its first read.

SQLite's own locking is not enough (DuckLake does not retry "database is locked" at commit), so
writers queue on an `flock`, which the kernel drops when a process dies. On a PostgreSQL catalog
they queue on an advisory lock instead (`gradelake.sql.lake.postgres`).
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gradelake.sql.common import console
from gradelake.sql.common.errors import Busy

_held: set[Path] = set()  # lock files that this process holds


@contextmanager
def file_lock(
    path: Path,
    purpose: str,
    wait: bool = True,
    tell: Callable[[str], None] = console.warn,
    busy: str = "the lake is being written by",
) -> Iterator[None]:
    """Hold the lock file exclusively; a process that already holds it walks through.

    `purpose` is shown to whoever waits. With `wait=False`, raises `Busy` at once when the
    lock is taken; `busy` begins its message.
    """
    path = path.resolve()
    if path in _held:
        yield
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        if not _try_lock(descriptor):
            holder = _holder(descriptor)
            if not wait:
                raise Busy(f"{busy} {holder}", "Try again later.")
            tell(f"waiting for {holder} to finish writing")
            while not _try_lock(descriptor):
                time.sleep(0.05)
        os.ftruncate(descriptor, 0)
        started = time.strftime("%H:%M:%S")
        holder = f"{purpose} (process {os.getpid()}, since {started})"
        os.pwrite(descriptor, holder.encode(errors="replace"), 0)
        _held.add(path)
        yield
    finally:
        _held.discard(path)
        os.close(descriptor)  # closing releases the lock


def lock_holder(path: Path) -> str | None:
    """Who holds the lock right now, or None when nobody does."""
    if not path.exists():
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except PermissionError:
        return None
    try:
        return None if _try_lock(descriptor) else _holder(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
