"""Which files are being read, noted in the lake's folder: what kills its process is known to the
next one, which reads it in a process of its own first."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from typing import Any

from gradelake.ingest.collections.collection import Collection
from gradelake.sql.common import files
from gradelake.sql.common.problems import Rejected, reject
from gradelake.sql.common.project import Project

_TIMES = 2  # that a process was killed while it read a file, after which nobody tries it again


class AtWork:
    """The files that an ingest reads, and those that the last one read when it was killed."""

    def __init__(self, project: Project, collection: Collection):
        self._note = project.lake_path / f".reading-{collection.name}.json"
        self._collection = collection
        self._hashed: dict[str, list[int]] = {}  # shown -> what `_state` was before its hash
        self._files: dict[str, list[int]] = {}  # shown -> its `_state`, times
        with suppress(OSError, ValueError):
            self._files = json.loads(self._note.read_text())
        for shown, (*state, _) in [*self._files.items()]:
            if state != self._state(shown):
                del self._files[shown]
        self._killed = {shown: times for shown, (*_, times) in self._files.items()}

    def check(self, shown: str, read: Callable[[], Iterable[Any]]) -> None:
        """Raise `Rejected` for a file that kills what reads it. `read` reads it, and can be
        pickled."""
        if shown not in self._killed:
            return
        if self._killed[shown] < _TIMES:
            self._put(shown, _TIMES)  # in case the attempt takes us down with it
            attempt = get_context("spawn").Process(
                target=_read, args=(files.limits, read), daemon=True
            )
            attempt.start()
            attempt.join()
            if (attempt.exitcode or 0) >= 0:
                self._put(shown, self._killed[shown])
                return
        raise _too_large(shown, "what reads it is killed: there may be too little memory")

    @contextmanager
    def reading(self, shown: str) -> Iterator[None]:
        """Notes that a file is read, until it was. Raises `Rejected` where memory does not do, or
        the file is not the one any more that was hashed."""
        self.begin(shown)
        try:
            yield
            if shown in self._hashed and self._hashed[shown] != self._state(shown):
                hint = "Run the command again once nobody writes to it."
                raise reject(shown, None, "was changed while it was read", hint)
        except MemoryError as error:
            error.__traceback__ = None  # it holds what was too much
            raise _too_large(shown, "does not fit into memory") from None
        finally:
            self.end(shown)

    def hashing(self, shown: str) -> None:
        """Remember which file the hash is of that is about to be made."""
        self._hashed[shown] = self._state(shown)

    def begin(self, shown: str) -> None:
        self._put(shown, self._killed.get(shown, 0) + 1)

    def end(self, *shown: str) -> None:
        """Strike files from the note; without any, all that were begun and did not kill before."""
        for each in shown or set(self._files) - set(self._killed):
            self._files.pop(each, None)
        self._write()

    def _put(self, shown: str, times: int) -> None:
        state = self._state(shown)
        if state and self._files.get(shown) != (noted := [*state, times]):
            self._files[shown] = noted
            self._write()

    def _state(self, shown: str) -> list[int]:
        """Which file this is: size in bytes, time of change in ns, inode."""
        try:
            found = self._collection.path(shown).stat()
        except OSError:
            return []
        return [found.st_size, found.st_mtime_ns, found.st_ino]

    def _write(self) -> None:
        if self._files:
            self._note.write_text(json.dumps(self._files))
        else:
            self._note.unlink(missing_ok=True)


def _read(limits: files.UnzipLimits, read: Callable[[], Iterable[Any]]) -> None:
    files.limits = limits
    with suppress(Exception):  # what is wrong with it is said where it is read in earnest
        deque(read(), maxlen=0)


def _too_large(shown: str, message: str) -> Rejected:
    hint = "Is this the right file? Where there is more memory, `touch` it and ingest again."
    return reject(shown, None, message, hint)
