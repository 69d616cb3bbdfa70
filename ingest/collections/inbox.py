"""A collection's inbox: which files in it are whole, and where they go once they were read.

Whoever makes runs drops them here, at any time. What landed moves to `accepted/`, what cannot be
used to `quarantine/` with a file beside it that says why. Nothing is ever deleted.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path

from gradelake.ingest.collections.collection import ACCEPTED, PUT_AWAY, QUARANTINE, Collection
from gradelake.ingest.collections.trec import system_name
from gradelake.ingest.mapping.form import File
from gradelake.sql.common.problems import Rejected, reject
from gradelake.sql.common.whole_file import whole_file

SETTLED = 60.0  # seconds without a change after which a file counts as whole
MARKER = ".done"  # FILE.done says that FILE is whole, whatever its age
REASON = ".reason.txt"
MAX_NAME = 200  # bytes of a name that was put away; file systems allow 255, with every ending
_RUNS, _RESPONSES = (".run", ".run.gz"), (".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Arrival:
    """A file of the inbox as it was when it was looked at."""

    shown: str
    path: Path
    kind: str | None  # "runs" or "responses"; None when its name tells neither
    state: tuple[int, int, int]  # inode, size in bytes, time of the last change in ns

    @property
    def marker(self) -> Path:
        return self.path.with_name(self.path.name + MARKER)


@dataclass
class Inbox:
    """What lies in the inbox of a collection, and what became of it."""

    folder: Path | None = None
    ready: list[Arrival] = field(default_factory=list)
    was_read: bool = False  # the collection's topics were in, so that its systems could be checked
    accepted: list[str] = field(default_factory=list)
    quarantined: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # still being written

    def as_object(self) -> dict[str, list[str]]:
        return {"accepted": self.accepted, "quarantined": self.quarantined, "waiting": self.waiting}


def look(collection: Collection, settled: float = SETTLED) -> Inbox:
    """What of a collection's inbox can be read now. A missing folder is an empty inbox.

    A file is left waiting until it has not changed for `settled` seconds, unless its marker says
    that it is whole. The age is taken without its sign: a clock that was set back must not make
    files wait for ever.
    """
    if collection.inbox is None:
        return Inbox()
    folder = collection.path(collection.inbox)
    inbox = Inbox(folder)
    for path in sorted(_files(folder)):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue  # taken back meanwhile
        shown = os.path.join(collection.inbox, path.relative_to(folder))
        state = (found.st_ino, found.st_size, found.st_mtime_ns)
        arrival = Arrival(shown, path, _kind(path, folder, found.st_mode), state)
        if abs(time.time() - found.st_mtime) >= settled or _is_marked(arrival):
            inbox.ready.append(arrival)
        else:
            inbox.waiting.append(shown)
    return inbox


def _is_marked(arrival: Arrival) -> bool:
    try:
        return arrival.marker.exists()
    except OSError:  # its name would be too long
        return False


def _files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder):
        put_away = PUT_AWAY if Path(root) == folder else ()
        folders[:] = [name for name in folders if name not in put_away and name[0] != "."]
        yield from (
            Path(root, name) for name in names if name[0] != "." and not name.endswith(MARKER)
        )


def _kind(path: Path, folder: Path, mode: int) -> str | None:
    """What a file holds, by its ending or by the folder it lies in."""
    if not stat.S_ISREG(mode):
        return None  # a link may point anywhere
    inside = path.relative_to(folder).parts[0]
    if path.name.endswith(_RUNS) or inside == "runs":
        return "runs"
    if path.name.endswith(_RESPONSES) or inside == "responses":
        return "responses"
    return None


def with_arrivals(collection: Collection, inbox: Inbox) -> tuple[Collection, list[Rejected]]:
    """The collection with the files of its inbox as inputs beside the others; and those files
    that cannot be read as such."""
    refused: list[Rejected] = []
    inputs = {"runs": collection.runs, "responses": collection.responses}
    systems = {
        system_name(collection.path(shown), shown): shown for shown in collection.matching("runs")
    }
    for arrival in inbox.ready:
        shown, system = arrival.shown, system_name(arrival.path)
        if arrival.kind is None:
            message = "is neither a run nor a file of responses"
            hint = (
                f"Runs end in {' or '.join(_RUNS)}, responses in {' or '.join(_RESPONSES)}; or put "
                "it into the inbox's folder runs/ or responses/."
            )
            refused.append(reject(shown, None, message, hint))
        elif arrival.kind == "runs" and (other := systems.setdefault(system, shown)) != shown:
            message = f"system {system!r} comes from {other}"
            hint = "Rename this file, or change that one: a system's name is its file name."
            refused.append(reject(shown, None, message, hint))
        else:
            inputs[arrival.kind] += (File(escape(shown)),)
    return collection.model_copy(update=inputs), refused


def put_away(inbox: Inbox, rejected: Iterable[Rejected]) -> None:
    """Move what was read out of the inbox. Call it after the commit.

    A file that changed while it was read stays, and is read again the next time. Killed in
    between, the next ingest finds the file unchanged in the lake and moves it.
    """
    folder = inbox.folder
    if folder is None:
        return
    reasons = {refusal.file: refusal for refusal in rejected}
    for arrival in inbox.ready:
        try:
            found = arrival.path.lstat()
        except FileNotFoundError:
            continue
        if (found.st_ino, found.st_size, found.st_mtime_ns) != arrival.state:
            inbox.waiting.append(arrival.shown)
            continue
        refusal = reasons.get(arrival.shown)
        if not refusal and not inbox.was_read:
            inbox.waiting.append(arrival.shown)
            continue
        place = _free_place(folder / (QUARANTINE if refusal else ACCEPTED), arrival.path.name)
        if refusal:
            with whole_file(place.with_name(place.name + REASON)) as file:
                file.write((str(refusal) + "\n").encode(errors="backslashreplace"))
        os.replace(arrival.path, place)
        if _is_marked(arrival):
            arrival.marker.unlink(missing_ok=True)
        (inbox.quarantined if refusal else inbox.accepted).append(arrival.shown)


def _free_place(folder: Path, name: str) -> Path:
    """A path in the folder that nothing has yet: files of an earlier day stay. A name too long for
    a reason beside it is cut in its middle."""
    folder.mkdir(exist_ok=True)
    taken = {entry.name for entry in folder.iterdir()}
    as_bytes = os.fsencode(name)
    if len(as_bytes) > MAX_NAME:
        half = MAX_NAME // 2
        name = (as_bytes[:half] + b"~" + as_bytes[-half:]).decode(errors="ignore")
    number, place = 1, name
    while place in taken or place + REASON in taken:
        number += 1
        stem, dot, endings = name.partition(".")
        place = f"{stem}-{number}{dot}{endings}"
    return folder / place
