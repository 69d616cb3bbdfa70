"""What was sent to a provider's batch API, as the lake has it: every step is one commit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import polars as pl

from gradelake.grading.ask.entry import OF_WHAT, Asked, Entry
from gradelake.grading.ask.recorder import Replies
from gradelake.grading.engines import TOKENS, Response
from gradelake.grading.engines._chat import is_too_long, shorter
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Chunk
from gradelake.grading.run.attempts import TRIES, read, tokens_of
from gradelake.grading.run.committer import Committer, not_in_the_lake
from gradelake.grading.run.worker import counts_of
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.transaction import Transaction

# what a pair is of: texts that change make it another
PAIR = ("query_id", "passage_id", "item_id", "passage_sha256", "query_sha256", "gold_sha256")
# pairs of this grader and collection whose prompts were not answered
_IN_VAIN = """
    submitted_pairs.error is not null
    and submitted_pairs.submission_id in (
        select submission_id from {lake}.raw.submissions where grader_id = ? and collection = ?
    )
"""


@dataclass(frozen=True)
class Submission:
    """One that is under way: `intended` (perhaps the provider has it) or `submitted`."""

    submission_id: str
    state: str
    base_url: str
    provider_id: str | None
    n_pairs: int
    n_prompts: int
    reserved: float | None  # what it may cost at most; None: nobody knows
    began_at: datetime


class Submissions:
    """Those of one grader on one collection. Hold the grader's lock."""

    def __init__(self, lake: Lake, grader: Grader, collection: str):
        self.lake = lake
        self.grader = grader
        self.collection = collection
        self._whose = (grader.grader_id, collection)
        self._what = f"{collection} {grader.name}"

    def under_way(self) -> list[Submission]:
        """The oldest first."""
        found = self.lake.rows(
            "select submission_id, state, base_url, provider_id, n_pairs, n_prompts, reserved, "
            "began_at from lake.raw.submissions where grader_id = ? and collection = ? "
            "and state in ('intended', 'submitted') order by began_at, submission_id",
            *self._whose,
        )
        return [Submission(*row) for row in found]

    def intend(self, submission_id: str, pairs: pl.DataFrame, reserved: float | None) -> Submission:
        """Before anything is sent. `pairs` as `raw.submitted_pairs` has them."""
        row = {
            "submission_id": submission_id,
            "grader_id": self.grader.grader_id,
            "collection": self.collection,
            "base_url": self.grader.settings["base_url"],
            "n_pairs": pairs.height,
            "n_prompts": pairs["is_leader"].sum(),
            "reserved": reserved,
            "state": "intended",
            "began_at": utc_now(),
        }
        with self.lake.transaction("grade", self._what) as transaction:
            self.grader.register(transaction)
            transaction.insert("submissions", pl.DataFrame([row]))
            transaction.insert("submitted_pairs", pairs)
            transaction.say(pairs_to_submit=pairs.height)
        return next(each for each in self.under_way() if each.submission_id == submission_id)

    def submitted(self, submission: Submission, provider_id: str) -> None:
        with self.lake.transaction("grade", self._what) as transaction:
            _set(transaction, submission, state="submitted", provider_id=provider_id)
            transaction.say(submitted_pairs=submission.n_pairs)

    def end(self, submission: Submission, state: str, reason: str | None = None) -> None:
        """It is over without any reply: its pairs are missing again."""
        with self.lake.transaction("grade", self._what) as transaction:
            transaction.delete("submitted_pairs", submission_id=submission.submission_id)
            _set(transaction, submission, state=state, reason=reason, finished_at=utc_now())
            transaction.say(pairs_given_up=submission.n_pairs)

    def limits(self) -> dict[tuple, int]:
        """How much of its passage is sent for pairs that were too long."""
        keys = ", ".join(PAIR)
        rows = self.lake.rows(
            f"select {keys}, min(most_characters) from lake.raw.submitted_pairs "
            f"where most_characters is not null and {_IN_VAIN.format(lake='lake')} group by {keys}",
            *self._whose,
        )
        return {row[:-1]: row[-1] for row in rows}

    def collect(
        self,
        submission: Submission,
        replies: dict[int, Response | None],
        state: str,
        notes: list[str],
        stack: Mapping[str, str | list[str]],
    ) -> tuple[dict[str, int], int, int]:
        """Its grades and its end, in one commit. A prompt without an answer is asked again, three
        times in all, unless that is final; one that is None in `replies`, or not there, was not
        asked.

        Returns (`Committer.counts` of its grades, pairs that are asked again, those not asked).
        """
        pairs = self.lake.frame(
            "select * from lake.raw.submitted_pairs where submission_id = ? "
            "order by prompt_no, is_leader desc",
            submission.submission_id,
        )
        tries = self._tries(submission)
        answered: dict[int, Response] = {}
        again: list[dict[str, Any]] = []
        entries: list[Entry] = []
        for leader in pairs.filter("is_leader").to_dicts():
            number = leader["prompt_no"]
            reply = replies.get(number)
            if reply is None:
                continue
            reply.mend()
            most = None
            if reply.error and is_too_long(reply.error):
                most = shorter(leader["passage_characters"])
            n_before, before = tries.get(number, (0, []))
            about = {name: leader[name] for name in OF_WHAT}
            kept = replace(reply, cut_characters=leader["cut_characters"])
            entries.append(Entry(None, submission.submission_id, n_before + 1, 0.0, kept, **about))
            if reply.error and (most or (n_before + 1 < TRIES and not reply.is_final)):
                tokens = {name: getattr(reply, name) for name in TOKENS}
                again.append(
                    {"prompt_no": number, "error": reply.error, "most_characters": most, **tokens}
                )
                continue
            for name, count in tokens_of(*before, reply).items():
                setattr(reply, name, count)
            reply.cut_characters = leader["cut_characters"]
            answered[number] = reply
        committer = Committer(
            self.lake,
            self.grader,
            Asked(self.collection, "grade", submission.submission_id),
            began_at=submission.began_at,
            planned=submission.n_pairs,
            notes=dict.fromkeys(notes),
        )
        committer.ran_on(stack)
        rows = not_in_the_lake(self.lake, "grades", self._grades(committer, pairs, answered))
        log = Replies(entries=entries, read={entry.reply_id for entry in entries})
        committer.log.came(log)
        committer.count(counts_of(rows) | log.paid)
        # the pairs of prompts that were not answered, with what was tried
        counted = dict.fromkeys(("most_characters", *TOKENS), pl.Int64)
        tried = pl.DataFrame(again, schema={"prompt_no": pl.Int64, "error": pl.String, **counted})
        of_leaders = [pl.when("is_leader").then(name).alias(name) for name in TOKENS]
        waiting = pairs.drop("error", *counted).join(tried, on="prompt_no", how="inner")
        waiting = waiting.with_columns(*of_leaders)
        with self.lake.transaction("grade", self._what) as transaction:
            self._forget(transaction, submission, rows)
            transaction.insert("submitted_pairs", waiting)
            transaction.insert("grades", rows.drop("prompt_no", "is_leader"))
            transaction.record_chunk(
                submission.submission_id, submission.submission_id, rows.height
            )
            committer.log.commit(transaction)
            committer.account(transaction, "done")
            _set(transaction, submission, state=state, finished_at=utc_now())
            transaction.say(grades=rows.height, pairs_to_ask_again=waiting.height)
        unasked = pairs.height - rows.height - waiting.height
        return committer.counts, waiting.height, unasked

    def _tries(self, submission: Submission) -> dict[int, tuple[int, list[Response]]]:
        """Of its prompts: how often they were asked in vain before, and what that took."""
        same = " and ".join(
            f"mine.{key} is not distinct from submitted_pairs.{key}" for key in PAIR
        )
        rows = self.lake.rows(
            f"""
            select
                mine.prompt_no,
                count(distinct submitted_pairs.submission_id)
                    filter (where submitted_pairs.most_characters is null),
                {", ".join(f"sum(submitted_pairs.{name})" for name in TOKENS)}
            from lake.raw.submitted_pairs as mine
            inner join lake.raw.submitted_pairs as submitted_pairs on {same}
            where
                mine.submission_id = ?
                and {_IN_VAIN.format(lake="lake")}
            group by mine.prompt_no
            """,
            submission.submission_id,
            *self._whose,
        )
        return {
            number: (n, [Response(**dict(zip(TOKENS, tokens, strict=True)))])
            for number, n, *tokens in rows
        }

    def _grades(
        self, committer: Committer, pairs: pl.DataFrame, answered: dict[int, Response]
    ) -> pl.DataFrame:
        numbered = pairs.select(*PAIR, pl.col("prompt_no").cast(pl.UInt32), "is_leader")
        asks = pairs.filter("is_leader").select("gold_answers")
        chunk = Chunk(committer.run_id, numbered, asks).part(list(answered), "")
        read_so = [
            (read(self.grader, reply, gold), reply)
            for reply, gold in zip(answered.values(), chunk.gold_answers, strict=True)
        ]
        return committer.worker().rows(chunk, read_so)

    def _forget(self, transaction: Transaction, submission: Submission, rows: pl.DataFrame) -> None:
        """Its pairs, and what was tried in vain before of those that have a grade now."""
        transaction.delete("submitted_pairs", submission_id=submission.submission_id)
        keys = rows.select("query_id", "passage_id", "item_id")
        with self.lake.registered("graded_now", keys):
            transaction.run(
                f"delete from {{lake}}.raw.submitted_pairs where {_IN_VAIN} "
                "and (query_id, passage_id, item_id) "
                "in (select (query_id, passage_id, item_id) from graded_now)",
                *self._whose,
            )


def _set(transaction: Transaction, submission: Submission, **values: Any) -> None:
    columns = ", ".join(f"{name} = ?" for name in values)
    transaction.run(
        f"update {{lake}}.raw.submissions set {columns} where submission_id = ?",
        *values.values(),
        submission.submission_id,
    )
