"""The log of replies between workers and the lake: what came is in it, whatever ends a run."""

import glob
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import polars as pl

from gradelake.grading.ask.entry import (
    OF_RESPONSE,
    OF_WHAT,
    Asked,
    LogEntry,
    as_rows,
    is_being_written,
    read_segment,
)
from gradelake.grading.ask.recorder import Place, Replies
from gradelake.grading.engines import Response
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common.errors import WorkFailed
from gradelake.sql.common.project import Project
from gradelake.sql.lake.connection import REPLIES, grader_lock, grading_folder
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import types_of
from gradelake.sql.lake.transaction import Transaction

_ORPHANS_END_IN, _TICK = 120.0, 0.1  # seconds


class ReplyLog:
    """The log of one run of one grader. Hold the grader's lock.

    Replies are in a file of their chunk until what was made of them is committed, and they with it.
    What nothing was made of is committed as unread: it is given to whoever asks the same again.
    """

    def __init__(self, lake: Lake, grader: Grader, about: Asked):
        self.lake, self.grader = lake, grader
        self.place = Place(grading_folder(lake.project) / grader.grader_id, about)
        self.place.folder.mkdir(parents=True, exist_ok=True)
        self.began = time.monotonic()
        self._waiting: list[Replies] = []  # of chunks that are not committed yet
        self._is_unsure = False  # whether what waits was entered once before

    @classmethod
    @contextmanager
    def of_run(cls, project: Project, grader: Grader, about: Asked) -> Iterator[Self]:
        """The log of a command, with the lake and the grader's lock. Raises `Busy` while another
        process is at work with the grader."""
        what = f"gradelake {about.purpose} {about.collection} --grader {grader.name}"
        with Lake.writer(project) as lake, grader_lock(project, grader.grader_id, what):
            yield cls(lake, grader, about)

    @property
    def about(self) -> Asked:
        return self.place.about

    def recover(self) -> int:
        """Take what an interrupted run of this grader left into the lake, as unread. Returns how
        many replies of models that has."""
        for mark in self.place.folder.glob(".*.run"):  # without it, no worker begins with a chunk
            mark.unlink(missing_ok=True)
        files = self._files()
        _await_end(files)
        segments = [segment for file in files if (segment := read_segment(file))]
        in_lake = self._in_lake([entry for _, entries in segments for entry in entries])
        n_answered = 0
        if segments:
            with self.lake.transaction("grade", f"(recovered) {self._what}") as transaction:
                for about, entries in segments:
                    new = [
                        (entry, set[str]()) for entry in entries if entry.reply_id not in in_lake
                    ]
                    self._insert(transaction, new, about)
                    n_answered += sum(entry.state == "answered" for entry, _ in new)
                transaction.say(replies_recovered=n_answered)
        for file in files:
            file.unlink(missing_ok=True)
        return n_answered

    def unread(self) -> list[LogEntry]:
        """Replies that this grader gave for this round, and that nothing was made of."""
        return self._found(
            "round = ? and state = 'answered' and asked is not null", self.about.round
        )

    def in_vain(self) -> list[LogEntry]:
        """What this grader did not answer in batches, and will be asked again."""
        return self._found(
            "collection = ? and state = 'failed' and in_batch", self.about.collection
        )

    def _found(self, where: str, value: str) -> list[LogEntry]:
        """Of what nothing was made of."""
        rows = self.lake.objects(
            f"select * from lake.raw.replies where {where} and grader_id = ? and not is_read "
            "order by asked_at, reply_id",
            value,
            self.grader.grader_id,
        )
        return [_entry(row) for row in rows]

    def of_chunks(self, chunk_ids: Iterable[str]) -> list[LogEntry]:
        """What chunks were answered whose worker died."""
        found = [read_segment(file) for one in chunk_ids for file in self._files(one)]
        return [entry for each in found if each for entry in each[1]]

    def begin(self) -> None:
        """Let workers know the folder."""
        self.place.mark.touch()

    def came(self, replies: Replies) -> None:
        """A worker's account of a chunk: `commit` enters it, with what was made of it."""
        self._waiting.append(replies)

    def commit(self, transaction: Transaction) -> None:
        """Enter what waits, in the transaction that has what was made of it; call `committed` once
        that is done."""
        new = [(entry, replies.read) for replies in self._waiting for entry in replies.entries]
        old = [(entry, replies.read) for replies in self._waiting for entry in replies.recalled]
        # the catalog's server may have gone before it said whether it was done
        asked_about = [entry for entry, _ in (new if self._is_unsure else []) + old]
        in_lake = self._in_lake(asked_about)
        self._insert(transaction, [each for each in new + old if each[0].reply_id not in in_lake])
        if read := in_lake & {entry.reply_id for entry, read in old if entry.reply_id in read}:
            transaction.run(
                "update {lake}.raw.replies set is_read = true where reply_id in (select unnest(?))",
                [*read],
            )
        self._is_unsure = True

    def committed(self) -> None:
        """What `commit` entered is in the lake, and need not wait in files."""
        self._is_unsure = False
        chunks = [replies.chunk_id for replies in self._waiting if replies.chunk_id]
        for file in [file for chunk_id in chunks for file in self._files(chunk_id)]:
            file.unlink(missing_ok=True)
        self._waiting.clear()

    def end(self) -> None:
        """Enter what is left, as unread. No worker is at work any more."""
        for replies in self._waiting:
            replies.read &= replies.useless
        if self._waiting:
            with self.lake.transaction("grade", self._what) as transaction:
                self.commit(transaction)
            self.committed()
        self.recover()

    @property
    def _what(self) -> str:
        return f"{self.about.collection} {self.grader.name}"

    def _in_lake(self, entries: list[LogEntry]) -> set[str]:
        if not entries:
            return set()
        return set(
            self.lake.column(
                "select reply_id from lake.raw.replies where reply_id in (select unnest(?))",
                [entry.reply_id for entry in entries],
            )
        )

    def _insert(
        self,
        transaction: Transaction,
        entries: list[tuple[LogEntry, set[str]]],
        about: Asked | None = None,
    ) -> None:
        """Insert entries, each with the ids of those that are read."""
        if not entries:
            return
        self.grader.register(transaction)
        rows = as_rows([(entry, entry.reply_id in read) for entry, read in entries])
        shared = asdict(about or self.about)
        shared |= {"grader_id": self.grader.grader_id, "in_batch": self.grader.in_batches}
        types = types_of("replies", *rows)
        transaction.insert("replies", pl.DataFrame(rows, schema=types), **shared)

    def _files(self, chunk_id: str | None = None) -> list[Path]:
        name = "*" if chunk_id is None else f"{glob.escape(chunk_id)}.*"
        return sorted(self.place.folder.glob(f"{name}{REPLIES}"))


def _await_end(files: list[Path]) -> None:
    """Wait for workers of a command that was killed: they end by themselves, and until then what
    they asked is answered. Raises `WorkFailed` for one that does not."""
    until = time.monotonic() + _ORPHANS_END_IN
    for file in files:
        while is_being_written(file):
            if time.monotonic() > until:
                raise WorkFailed(
                    f"{file}: a worker of an interrupted run is still at work",
                    "Wait until it has ended, or end it: `ray stop` on its machine.",
                )
            time.sleep(_TICK)


def _entry(row: dict[str, Any]) -> LogEntry:
    """An entry, as `raw.replies` has it."""
    own = ("asked", "chunk_id", "attempt", "seconds", "reply_id", "asked_at", *OF_WHAT)
    response = Response(row["reply"] or "", **{name: row[name] for name in OF_RESPONSE})
    return LogEntry(**{name: row[name] for name in own}, response=response)
