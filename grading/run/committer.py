"""From finished chunks to the lake: each is committed once, with its row in the ledger and its
replies in the log."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.engines import TOKENS
from gradelake.grading.prompts.reply import STATUSES
from gradelake.grading.run.worker import Graded, Worker
from gradelake.sql.common import console
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import Busy, Unreachable, WorkFailed
from gradelake.sql.common.plain_words import in_plain_words
from gradelake.sql.lake.connection import grader_lock
from gradelake.sql.lake.keys import KEYS
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import types_of
from gradelake.sql.lake.transaction import Transaction

COMMIT_EVERY = 1.0  # seconds: chunks that finish faster than this are committed together
SERVER_GONE_FOR = 300  # seconds without the catalog's server, after which a run ends
# pairs whose very prompt was answered before get a copy of that grade
_REUSED = """
    insert into {lake}.raw.grades by name
    select
        known.* replace (
            $3 as collection, mine.passage_id as passage_id,
            my_item.item_id as item_id, mine.query_id as query_id,
            mine.text_sha256 as passage_sha256, mine.query_sha256 as query_sha256,
            0 as prompt_tokens, 0 as cached_tokens, 0 as completion_tokens,
            $1 as run_id, $2 as graded_at
        )
    from plan_reusable
    inner join plan_passages as mine using (passage_no)
    inner join plan_items as my_item using (item_no)
    inner join {lake}.raw.grades as known
        on
            plan_reusable.known['collection'] = known.collection
            and plan_reusable.known['query_id'] = known.query_id
            and plan_reusable.known['passage_id'] = known.passage_id
            and plan_reusable.known['item_id'] = known.item_id
            -- an import does not say which texts it read: here those that are
            and coalesce(
                known.passage_sha256,
                if(known.collection = $3, mine.text_sha256, null)
            ) = mine.text_sha256
            and coalesce(
                known.query_sha256,
                if(known.collection = $3, mine.query_sha256, null)
            ) is not distinct from mine.query_sha256
            and known.gold_sha256 is not distinct from my_item.gold_sha256
    where known.grader_id = getvariable('grader_id')
"""


@dataclass
class Committer:
    """Takes the chunks of one run of one grader on one collection into the lake; those of a
    sentinel's round, or a probe's, beside all other grades."""

    log: ReplyLog
    began_at: datetime = field(default_factory=utc_now)  # before this process, perhaps
    planned: int = 0
    notes: dict[str, None] = field(default_factory=dict)  # of engines, each once
    stack: dict[str, list[str]] = field(default_factory=dict)  # what they ran on, each once
    commit_seconds: float = 0.0
    began: bool = False

    def __post_init__(self) -> None:
        self.lake, self.grader, self.about = self.log.lake, self.log.grader, self.log.about
        self.table = "grades" if self.about.purpose == "grade" else "sentinel_grades"
        self.counts = dict.fromkeys((*STATUSES, "pairs", "reused", "cut", "uncounted", *TOKENS), 0)
        self._what = f"{self.collection} {self.grader.name}"
        self._waiting: list[Graded] = []
        self._started = time.monotonic() - (utc_now() - self.began_at).total_seconds()
        self._committed = time.monotonic()
        self._gone_since: float | None = None  # the catalog's server

    @property
    def collection(self) -> str:
        return self.about.collection

    @property
    def run_id(self) -> str:
        return self.about.run_id

    @property
    def seconds(self) -> float:
        return max(0.0, time.monotonic() - self._started)

    def recover(self) -> int:
        """Take what an interrupted run of this grader left. Returns how many replies that has: they
        are not asked for again. Only call this while holding the grader's lock."""
        return self.log.recover()

    def begin(self, planned: int) -> None:
        """Announce the run: the grader and its batch, before anything is graded."""
        self.planned = planned
        with self.lake.transaction("grade", self._what) as transaction:
            self.grader.register(transaction)
            # the grader's lock is ours: what still says that it runs was killed
            transaction.run(
                "update {lake}.raw.grading_runs set state = 'failed' "
                "where grader_id = ? and state = 'running'",
                self.grader.grader_id,
            )
            self.account(transaction, "running")
            transaction.say(planned_pairs=planned)
        self.began = True

    def worker(self) -> Worker:
        """What grades for this run, without an engine yet."""
        return Worker(self.grader, self.collection, self.run_id)

    def reuse(self, missing: int) -> None:
        """Copy the grades of pairs whose very prompt was answered before (`plan_reusable`)."""
        if not missing:
            return
        with self.lake.transaction("grade", self._what) as transaction:
            transaction.run(_REUSED, self.run_id, utc_now(), self.collection)
            by_status = "select status, count(*) from lake.raw.grades where run_id = ? group by 1"
            copied = dict(self.lake.rows(by_status, self.run_id))
            taken_over = (
                "select known['collection'], count(*) from plan_reusable "
                "where known['collection'] != ? group by 1 order by 1"
            )
            origins = dict(self.lake.rows(taken_over, self.collection))
            self.notes |= dict.fromkeys(
                f"{counted(n, 'grades')} taken over from {origin}, of the same texts"
                for origin, n in origins.items()
            )
            n_rows = sum(copied.values())
            self.count(copied | {"pairs": n_rows, "reused": n_rows})
            self.account(transaction, "running")
            transaction.say(reused_grades=n_rows, of_them_taken_over=sum(origins.values()))

    def add(self, graded: Graded) -> None:
        """A chunk is finished: it is committed now, or soon together with others."""
        self._waiting.append(graded)
        self.log.came(graded.replies)
        self.count(graded.counts | graded.replies.paid)
        self.notes |= dict.fromkeys(graded.notes)
        self.ran_on(graded.stack)
        self.commit_if_due()

    def commit_if_due(self) -> None:
        """Commit what waits, unless the last commit is recent, another process is writing, or the
        catalog's server is gone: the replies are safe in their files."""
        if self._waiting and time.monotonic() - self._committed >= COMMIT_EVERY:
            try:
                self._commit("running", wait=False)
            except Exception as error:
                if not isinstance(error, Busy):
                    self._bear(error)
                self._committed = time.monotonic()

    def finish(self, state: str) -> None:
        """Commit what waits, and how the run ended: done, stopped or failed. No worker is at work
        any more."""
        while self.began:
            try:
                self._commit(state, wait=True)
                self.log.end()
                break
            except Exception as error:
                self._bear(error)
                time.sleep(COMMIT_EVERY)

    def _bear(self, error: Exception) -> None:
        """Raise what a commit raised, unless the catalog's server is gone, and not for long yet."""
        known = error if isinstance(error, WorkFailed) else in_plain_words(error)
        if not isinstance(known, Unreachable):
            raise error
        if self._gone_since is None:
            self._gone_since = time.monotonic()
            waits = f"replies wait in {self.log.place.folder}"
            console.warn(f"{known.message}; trying again, and {waits}")
        elif time.monotonic() - self._gone_since >= SERVER_GONE_FOR:
            raise WorkFailed(
                f"tried for {SERVER_GONE_FOR / 60:g} minutes: {known.message}",
                f"What was answered meanwhile waits in {self.log.place.folder}. Run it again once "
                "the server answers: nothing is paid for twice.",
            ) from None

    def _require_grader(self) -> None:
        """The grader's lock is this process's, or taken anew where the catalog's server ended it.
        Raises `WorkFailed` when another process has it by now."""
        try:
            with grader_lock(self.lake.project, self.grader.grader_id, self._what):
                pass
        except Busy:
            raise WorkFailed(
                f"while the catalog's server was gone, another process began with {self._what}",
                f"What this one did not commit waits in {self.log.place.folder}, for the next run.",
            ) from None

    def _commit(self, state: str, wait: bool) -> None:
        started, chunks = time.monotonic(), list(self._waiting)
        with self.lake.transaction("grade", self._what, wait) as transaction:
            self._require_grader()
            n_rows = self._insert(transaction, chunks)
            self.log.commit(transaction)
            self.account(transaction, state)
            transaction.say(grades=n_rows)
        self.log.committed()
        del self._waiting[: len(chunks)]
        self._gone_since = None
        self._committed = time.monotonic()
        self.commit_seconds += self._committed - started

    def _insert(self, transaction: Transaction, chunks: list[Graded]) -> int:
        """Insert the chunks that the ledger does not have, each with its row there."""
        # a chunk whose pairs failed may come again, in another run
        names = {f"{graded.chunk_id}/{self.run_id[:16]}": graded.rows for graded in chunks}
        done = transaction.recorded_chunks(list(names))
        new = {name: rows for name, rows in names.items() if name not in done}
        for name, rows in new.items():
            transaction.record_chunk(name, name, rows.height)
        if not new:
            return 0
        rows = pl.concat(new.values())
        return transaction.insert(
            self.table, rows.select(name for name in types_of(self.table) if name in rows.columns)
        )

    def ran_on(self, stack: Mapping[str, str | list[str]]) -> None:
        """Note what an engine ran on (`Engine.stack`); workers' machines may differ."""
        for name, found in stack.items():
            known, told = (
                self.stack.setdefault(name, []),
                [found] if isinstance(found, str) else found,
            )
            known += [each for each in told if each not in known]

    def count(self, counts: dict[str, int]) -> None:
        for name, n in counts.items():
            self.counts[name] += n

    def account(self, transaction: Transaction, state: str) -> None:
        """The run's row, as of now; a round has none."""
        if self.table != "grades":
            return
        transaction.delete("grading_runs", run_id=self.run_id)
        counts = self.counts
        row = {
            "run_id": self.run_id,
            "grader_id": self.grader.grader_id,
            "collection": self.collection,
            "planned": self.planned,
            **{name: counts[name] for name in (*STATUSES, "reused", "cached_tokens")},
            "tokens": counts["prompt_tokens"] + counts["completion_tokens"],
            "wall_seconds": self.seconds,
            "started_at": self.began_at,
            "finished_at": None if state == "running" else utc_now(),
            "state": state,
            "notes": list(self.notes) or None,
            "stack": json.dumps(self.stack, sort_keys=True) if self.stack else None,
        }
        transaction.insert("grading_runs", [row])


def not_in_the_lake(lake: Lake, table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows whose pair has no grade of this text yet; of a sentinel, none in this round."""
    with lake.registered("staged_rows", rows):
        same = (f"staged_rows.{key} is not distinct from grades.{key}" for key in KEYS[table])
        return lake.frame(
            "select staged_rows.* from staged_rows "
            f"anti join lake.raw.{table} as grades on {' and '.join(same)}"
        )
