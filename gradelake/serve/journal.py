"""What people answered, kept on disk until the lake has it: acknowledged is never lost.

A review is written here, and forced to the disk, before it is acknowledged; those of everybody go
into the lake together, within seconds. A server that was killed leaves its file, and the next one
commits what is in it; a review that the lake has already takes its own place.
"""

import fcntl
import json
import os
import threading
import uuid
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.project import Project
from gradelake.sql.lake.lake import Lake

_ASIDE = ".unreadable"
_TEXTS = ("collection", "grader_id", "query_id", "passage_id", "item_id", "assessor")
Entry = dict[str, Any]  # a row of raw.grade_reviews; `verdict` None takes a review back


class Journal:
    """The reviews that wait to be committed. Of use to any thread."""

    def __init__(self, project: Project):
        self._folder = project.lake_path / "reviews"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._waiting: list[Entry] = []
        self._leaving: list[Entry] = []  # in a commit just now
        self._left = self._left_behind()
        self._file = self._begin()

    def add(self, entry: Entry) -> None:
        """Keep a review; when this returns, a kill does not lose it."""
        line = json.dumps(entry, default=str).encode() + b"\n"
        with self._lock:
            _append(self._file, line)
            self._waiting.append(entry)

    def waiting(self, **key: str) -> list[Entry]:
        """What waits or is being committed and has these values, oldest first."""
        with self._lock:
            entries = [*self._leaving, *self._waiting]
        return [each for each in entries if all(each[name] == key[name] for name in key)]

    def commit(self, project: Project, wait: bool = True) -> int:
        """Bring what waits into the lake, in one commit; returns how many. Only one thread calls
        it, as `Writer` sees to. What fails stays, and is tried again with the next call.

        With `wait=False`, raises `Busy` at once while another process writes.
        """
        from gradelake.grading.review.verdicts import put_rows

        with self._lock:
            if self._waiting:
                written, self._file = self._file, self._begin()
                self._left.append(written)
                self._leaving += self._waiting
                self._waiting = []
            entries = list(self._leaving)
            if not self._left:
                return 0
        with (
            Lake.writer(project) as lake,
            lake.transaction("review", _names(entries), wait) as commit,
        ):
            n = put_rows(commit, entries)
            commit.say(reviews=n)
        with self._lock:
            for file in self._left:
                Path(file.name).unlink(missing_ok=True)
                file.close()
            self._left, self._leaving = [], []
        return len(entries)

    def close(self) -> None:
        """Leave the file, if anything is in it, to the next server."""
        with self._lock:
            if os.fstat(self._file.fileno()).st_size == 0:
                os.unlink(self._file.name)
            for file in (self._file, *self._left):
                file.close()

    def _begin(self) -> BinaryIO:
        """A new file, locked as long as this process lives."""
        file = (self._folder / f"{uuid.uuid4().hex}.jsonl").open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def _left_behind(self) -> list[BinaryIO]:
        """The files of servers that are no more; their entries wait again."""
        found: list[BinaryIO] = []
        for path in sorted(self._folder.glob("*.jsonl"), key=_made_at):
            try:
                file = path.open("rb+")
            except OSError as error:  # a folder, somebody else's file
                _set_aside(path, error.strerror or str(error))
                continue
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # of another server of this lake
                file.close()
                continue
            self._leaving += _entries(path, file)
            found.append(file)
        self._leaving.sort(key=lambda entry: entry["reviewed_at"])
        return found


def _made_at(path: Path) -> int:
    return path.stat().st_mtime_ns


def _append(file: BinaryIO, line: bytes) -> None:
    """Add a line that is on the disk when this returns; of one that does not fit nothing stays,
    else the next would begin in its middle."""
    end = os.fstat(file.fileno()).st_size
    try:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(file.fileno(), rest) :]
        os.fsync(file.fileno())
    except OSError:
        os.ftruncate(file.fileno(), end)
        raise


def _entries(path: Path, file: BinaryIO) -> list[Entry]:
    """What a file holds; lines that cannot be read are kept in another beside it, and named. What
    ends in no line was never acknowledged."""
    found, damaged = [], []
    for line in file:
        try:
            found.append(_read(line))
        except (ValueError, KeyError, TypeError):
            damaged += [line] if line.endswith(b"\n") else []
    if damaged:
        aside = path.with_suffix(_ASIDE)
        aside.write_bytes(b"".join(damaged))
        lines = counted(len(damaged), "lines")
        console.warn(f"{path}: reviews that cannot be read; {aside} has these {lines}")
    return found


def _read(line: bytes) -> Entry:
    """A line's entry. Raises `ValueError`, `KeyError` or `TypeError` for what the lake cannot take,
    which would hold up everybody's reviews."""
    entry = json.loads(line)
    if not all(isinstance(entry[key], str) for key in _TEXTS) or type(entry["grade"]) is not int:
        raise TypeError
    if entry["verdict"] not in (None, "agree", "disagree"):
        raise ValueError
    return entry | {"reviewed_at": datetime.fromisoformat(entry["reviewed_at"])}


def _set_aside(path: Path, why: str) -> None:
    """A file that cannot be opened, under another name, so that the next start does not meet it."""
    aside = path.with_suffix(_ASIDE)
    with suppress(OSError):
        path = path.rename(aside)
    console.warn(f"{path}: reviews that cannot be read: {why}")


def _names(entries: list[Entry]) -> str:
    """Whose reviews, for the commit's message."""
    collections = sorted({entry["collection"] for entry in entries})
    assessors = sorted({entry["assessor"] for entry in entries})
    return f"{' '.join(collections)} {', '.join(assessors[:5])}{' ...' * (len(assessors) > 5)}"
