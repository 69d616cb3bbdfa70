"""An entry of the log: one request to a model, and what came of it."""

import fcntl
import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from gradelake.grading.engines import EngineUnusable, Response
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Rendered
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.connection import REPLIES

_READING = ("parser", "reading")  # of a grader's identity: what is done with a reply
_SYNC_EVERY = 1.0  # seconds
_ROOM = 1 << 16  # bytes at least that a file takes up beforehand
_BYTES_OF_A_TOKEN = 16  # at most, of a reply as JSON has it; the rest of an entry is short
OF_WHAT = ("query_id", "passage_id", "item_id")  # a prompt was, where its values tell it
# `reply` and `state` tell them
_NOT_STORED = ("text", "is_final", "is_recalled")
_OF_RESPONSE = {each.name: each.default for each in fields(Response)}
OF_RESPONSE = [name for name in _OF_RESPONSE if name not in _NOT_STORED]


@dataclass(frozen=True)
class Asked:
    """What a model is asked for: what all entries of a run share.

    `purpose` is the command's; `round` tells apart what is asked again on purpose: a sentinel's
    rounds.
    """

    collection: str
    purpose: str
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    round: str = ""


@dataclass(slots=True)
class LogEntry:
    """One request and what came of it. `asked` is the hash of all that the model was sent, where
    that is known: a provider's batch does not tell."""

    asked: str | None
    chunk_id: str
    attempt: int
    seconds: float
    response: Response
    query_id: str | None = None
    passage_id: str | None = None
    item_id: str | None = None
    prompt_bytes: int | None = None
    reply_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    asked_at: datetime = field(default_factory=utc_now)

    @property
    def state(self) -> str:
        """`answered`, `refused` by the model, or `failed`: no reply came."""
        if self.response.error is None:
            return "answered"
        return "refused" if self.response.is_final else "failed"

    def as_line(self) -> bytes:
        content = {name: getattr(self, name) for name in _OWN}
        content["asked_at"] = self.asked_at.isoformat()
        # what is as it is where nothing is said, is not written
        content["response"] = {
            name: value
            for name, usual in _OF_RESPONSE.items()
            if (value := getattr(self.response, name)) != usual
        }
        return json.dumps(content, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def of_line(cls, line: str) -> Self:
        """Raises `ValueError`, `LookupError` or `TypeError` for what is none."""
        content = json.loads(line)
        content["response"] = Response(**content["response"])
        return cls(**content | {"asked_at": datetime.fromisoformat(content["asked_at"])})


_OWN = [each.name for each in fields(LogEntry) if each.name not in ("response", "asked_at")]


def as_rows(entries: list[tuple[LogEntry, bool]]) -> dict[str, list[Any]]:
    """Entries, each with whether it is read, as columns of `raw.replies`, but for what they
    share."""
    own = [entry for entry, _ in entries]
    responses = [entry.response for entry in own]
    told = [None if each.error is not None else each.text for each in responses]
    return {
        **{name: [getattr(each, name) for each in own] for name in (*_OWN, "asked_at", "state")},
        **{name: [getattr(each, name) for each in responses] for name in OF_RESPONSE},
        "reply": told,
        "is_read": [is_read for _, is_read in entries],
    }


def hash_of(grader: Grader, round_: str) -> Callable[[Rendered], str]:
    """What makes the hash of a prompt: with it, who is asked, in what way and for which round."""
    who = {key: value for key, value in grader.identity.items() if key not in _READING}
    of_all = hashlib.sha256(json.dumps(who | {"round": round_}, sort_keys=True).encode())

    def asked(prompt: Rendered) -> str:
        found = of_all.copy()
        found.update(f"{prompt.system or ''}\0{prompt.text}".encode(errors="surrogatepass"))
        return found.hexdigest()[:32]

    return asked


class Segment:
    """The entries of one chunk, in a file that has them as they come.

    The file takes up its room before anything is asked: a disk that fills up loses no reply.
    """

    def __init__(self, folder: Path, about: Asked, chunk_id: str):
        self.folder, self.about, self.chunk_id = folder, about, chunk_id
        self._file: int | None = None
        self._end = self._room = 0
        self._synced = time.monotonic()

    def make_room(self, n_bytes: int) -> None:
        """Raise `EngineUnusable` where the disk has no room for so much."""
        try:
            if self._file is None:
                name = f"{self.chunk_id}.{uuid.uuid4().hex[:8]}{REPLIES}"
                self._file = os.open(self.folder / name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
                fcntl.flock(self._file, fcntl.LOCK_EX)  # as long as this process lives
                self._write(json.dumps(asdict(self.about)).encode() + b"\n")
            if self._end + n_bytes > self._room:
                wanted = max(_ROOM, n_bytes)
                os.posix_fallocate(self._file, self._end, wanted)
                self._room = self._end + wanted
        except OSError as error:
            raise EngineUnusable(
                f"{self.folder}: {error.strerror}: replies are kept there as they come",
                "Nothing more was asked. Make room; the same command continues.",
            ) from None

    def add(self, entry: LogEntry) -> None:
        """Write an entry. A process that is killed does not take it along, nor does a machine that
        stops, but for the last second's."""
        self._write(entry.as_line())
        if time.monotonic() - self._synced >= _SYNC_EVERY:
            self._sync()

    def _write(self, line: bytes) -> None:
        assert self._file is not None  # there was room for it
        self._end += os.pwrite(self._file, line, self._end)

    def _sync(self) -> None:
        assert self._file is not None
        os.fsync(self._file)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Nothing more comes: what was taken up beforehand is given back."""
        if self._file is not None:
            os.ftruncate(self._file, self._end)
            os.close(self._file)
            self._file = None


def room_for(n_prompts: int, longest_reply: int) -> int:
    """Bytes that the entries of so many prompts may take."""
    return n_prompts * (2000 + _BYTES_OF_A_TOKEN * longest_reply)


def is_being_written(file: Path) -> bool:
    """Whether a worker has it, perhaps of a command that was killed just now."""
    with suppress(FileNotFoundError), file.open("rb") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def read_segment(file: Path) -> tuple[Asked, list[LogEntry]] | None:
    """What a file holds; None where its process ended before anything was asked. A line that it
    was still writing is none."""
    # not `splitlines`, which knows more ends of lines than JSON does
    lines = iter(file.read_bytes().rstrip(b"\0").decode(errors="replace").split("\n"))
    try:
        about = Asked(**json.loads(next(lines)))
    except (ValueError, TypeError, StopIteration):
        return None
    return about, [*_entries(lines)]


def _entries(lines: Iterable[str]) -> Iterator[LogEntry]:
    for line in lines:
        try:
            yield LogEntry.of_line(line)
        except (ValueError, LookupError, TypeError):
            return
