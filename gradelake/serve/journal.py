"""What people answered, kept on disk until the lake has it: acknowledged is never lost.

A review is written here, and forced to the disk, before it is acknowledged; those of everybody go
into the lake together, within seconds. Each server has a file of its own, locked as long as it
lives. One that was killed leaves its file, and whichever server sees it first commits what is in
it; a review that the lake has already takes its own place.
"""

import fcntl
import json
import os
import threading
import uuid
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal

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
        self._left: list[BinaryIO] = []  # files of what is leaving
        self._adopt()
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
            self._adopt()
            entries = list(self._leaving)
        if entries:
            with (
                Lake.writer(project) as lake,
                lake.transaction("review", _names(entries), wait) as into,
            ):
                into.say(reviews=put_rows(into, entries))
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
        """A new file; on the disk its name, too."""
        file = None
        while file is None:  # another server may take it for one left behind, until it is locked
            file = _locked(self._folder / f"{uuid.uuid4().hex}.jsonl", "ab")
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        return file

    def _adopt(self) -> None:
        """Take over the files of servers that are no more; their entries wait again."""
        for path in self._folder.glob("*.jsonl"):
            try:
                file = _locked(path, "rb+")
            except OSError as error:  # a folder, somebody else's file
                _set_aside(path, error.strerror or str(error))
                continue
            if file:
                self._leaving += _entries(path, file)
                self._left.append(file)
        self._leaving.sort(key=lambda entry: entry["reviewed_at"])


def _locked(path: Path, mode: Literal["ab", "rb+"]) -> BinaryIO | None:
    """The file, ours until it is closed; None where a server has it, or is through with it."""
    try:
        file = path.open(mode)
    except FileNotFoundError:
        return None
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(file.fileno()), path.stat()):  # it may just have gone
            return file
    file.close()
    return None


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
