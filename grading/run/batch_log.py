"""What lies in batches of a provider, as the log has it: under way, until it is collected. Every
step is one commit."""

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import polars as pl

from gradelake.grading.ask.entry import OF_WHAT, Asked, LogEntry
from gradelake.grading.ask.recorder import Replies
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.engines import Response
from gradelake.grading.engines._chat import is_too_long, shorter
from gradelake.grading.graders.grader import Grader
from gradelake.grading.run.attempts import TRIES, read, tokens_of
from gradelake.grading.run.committer import Committer, not_in_the_lake
from gradelake.grading.run.worker import counts_of
from gradelake.sql.common.clock import utc_now
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.rows import types_of
from gradelake.sql.lake.transaction import Transaction

# what a pair is of: texts that change make it another
PAIR = ("query_id", "passage_id", "item_id", "passage_sha256", "query_sha256", "gold_sha256")


@dataclass(frozen=True)
class Sent:
    """A batch that is under way: `intended` (perhaps the provider has it) or `submitted`."""

    batch_id: str
    state: str
    base_url: str
    provider_id: str | None
    n_pairs: int
    n_prompts: int
    reserved: float | None  # what it may cost at most; None: nobody knows
    began_at: datetime


class Tries:
    """What was asked in vain in batches, and is to be asked again, by prompt."""

    def __init__(self, log: ReplyLog):
        self._of: dict[Any, list[LogEntry]] = defaultdict(list)
        for entry in log.in_vain():
            self._of[entry.asked].append(entry)

    def of(self, row: Mapping[str, Any]) -> list[LogEntry]:
        """The pairs of the prompt of a row of `raw.replies`."""
        return self._of.get(row["asked"], [])

    def limit(self, row: Mapping[str, Any], passage: str) -> int | None:
        """How much of its passage is sent, where more was too long."""
        lengths = [
            len(passage) - entry.response.cut_characters
            for entry in self.of(row)
            if is_too_long(entry.response.error or "")
        ]
        return min((shorter(length) or length for length in lengths), default=None)


class BatchLog:
    """The batches of one grader on one collection. Hold the grader's lock."""

    def __init__(self, committer: Committer):
        self.lake: Lake = committer.lake
        self.grader: Grader = committer.grader
        self.collection, self._log = committer.collection, committer.log
        self._what = f"{self.collection} {self.grader.name}"

    def under_way(self) -> list[Sent]:
        """The oldest first."""
        found = self.lake.rows(
            "select batch_id, state, base_url, provider_id, n_pairs, n_prompts, reserved, began_at "
            "from lake.raw.batches where grader_id = ? and collection = ? "
            "and state in ('intended', 'submitted') order by began_at, batch_id",
            self.grader.grader_id,
            self.collection,
        )
        return [Sent(*row) for row in found]

    def tries(self) -> Tries:
        return Tries(self._log)

    def intend(self, batch_id: str, prompts: list[dict[str, Any]], reserved: float | None) -> Sent:
        """Before anything is sent. `prompts`: what is known of their rows in `raw.replies`."""
        whose = {"grader_id": self.grader.grader_id, "collection": self.collection}
        sent = Sent(
            batch_id,
            "intended",
            self.grader.settings["base_url"],
            None,
            sum(len(each["pairs"]) for each in prompts),
            len(prompts),
            reserved,
            utc_now(),
        )
        told = [row | {"pairs": json.dumps(row["pairs"])} for row in prompts]
        rows = pl.DataFrame(told, schema=types_of("replies", *prompts[0]))
        with self.lake.transaction("grade", self._what) as transaction:
            self.grader.register(transaction)
            transaction.insert("batches", [vars(sent)], **whose)
            transaction.insert(
                "replies",
                rows,
                **whose,
                purpose="grade",
                round="",
                run_id=batch_id,
                chunk_id=batch_id,
                state="under way",
                in_batch=True,
                constrained_probabilities=False,
                seconds=0.0,
                asked_at=sent.began_at,
                is_read=False,
            )
            transaction.say(pairs_to_submit=sent.n_pairs)
        return sent

    def submitted(self, sent: Sent, provider_id: str) -> None:
        with self.lake.transaction("grade", self._what) as transaction:
            self._set(transaction, sent, state="submitted", provider_id=provider_id)
            transaction.say(submitted_pairs=sent.n_pairs)

    def end(self, sent: Sent, state: str, reason: str | None = None, paid: bool = False) -> None:
        """It is over without any reply: its pairs are missing again. `paid`: it was billed."""
        with self.lake.transaction("grade", self._what) as transaction:
            if paid:
                transaction.run(
                    "update {lake}.raw.replies set state = 'failed', error = ?, pairs = null, "
                    "is_read = true where run_id = ? and state = 'under way'",
                    reason,
                    sent.batch_id,
                )
            self._close(transaction, sent, state, reason)
            transaction.say(pairs_given_up=sent.n_pairs)

    def prompts(self, sent: Sent) -> list[dict[str, Any]]:
        """The prompts of a batch, as `intend` was given them."""
        rows = self.lake.objects(
            "select * from lake.raw.replies where run_id = ? and state = 'under way'", sent.batch_id
        )
        return [row | {"pairs": json.loads(row["pairs"])} for row in rows]

    def collect(
        self,
        sent: Sent,
        prompts: list[dict[str, Any]],
        replies: dict[str, Response | None],
        state: str,
        notes: list[str],
        stack: Mapping[str, str | list[str]],
    ) -> tuple[dict[str, int], int, int]:
        """Its grades and its end, in one commit. A prompt without an answer is asked again, three
        times in all, unless that is final; one that is None in `replies`, or not there, was not
        asked.

        Returns (`Committer.counts` of its grades, pairs that are asked again, those not asked).
        """
        tries, log = self.tries(), Replies()
        answered: list[tuple[dict[str, Any], Response]] = []  # prompts, and what they came to
        n_again = 0
        for row in prompts:
            reply = replies.get(row["reply_id"])
            if reply is None:
                continue
            reply.mend()
            reply.cut_characters, before = row["cut_characters"], tries.of(row)
            names = ("asked", "attempt", "reply_id", "prompt_bytes", *OF_WHAT)
            known = {name: row[name] for name in names}
            entry = LogEntry(chunk_id=sent.batch_id, seconds=0.0, response=replace(reply), **known)
            log.entries.append(entry)
            # one that had more of its passage was another
            same = [each for each in before if each.response.cut_characters == reply.cut_characters]
            if entry.state == "failed" and len(same) + 1 < TRIES:
                n_again += len(row["pairs"])
                continue
            log.recalled += before
            log.read |= {each.reply_id for each in (entry, *before)}
            tokens = tokens_of(*(each.response for each in before), reply)
            answered.append((row, replace(reply, **tokens)))
        committer = Committer(
            ReplyLog(self.lake, self.grader, Asked(self.collection, "grade", sent.batch_id)),
            began_at=sent.began_at,
            planned=sent.n_pairs,
            notes=dict.fromkeys(notes),
        )
        committer.ran_on(stack)
        rows = self._grades(committer, answered)
        committer.log.came(log)
        committer.count(counts_of(rows) | log.paid)
        with self.lake.transaction("grade", self._what) as transaction:
            self._close(transaction, sent, state)
            transaction.insert("grades", rows.drop("prompt_no", "is_leader"))
            transaction.record_chunk(sent.batch_id, sent.batch_id, rows.height)
            committer.log.commit(transaction)
            committer.account(transaction, "done")
            transaction.say(grades=rows.height, pairs_to_ask_again=n_again)
        return committer.counts, n_again, sent.n_pairs - rows.height - n_again

    def _grades(
        self, committer: Committer, answered: list[tuple[dict[str, Any], Response]]
    ) -> pl.DataFrame:
        """The grades of prompts' pairs that have none yet."""
        readings = [
            (read(self.grader, reply, row["pairs"][0]["gold_answers"]), reply)
            for row, reply in answered
        ]
        pairs = [
            pair | {"prompt_no": n, "is_leader": pair is row["pairs"][0]}
            for n, (row, _) in enumerate(answered)
            for pair in row["pairs"]
        ]
        numbered = [("prompt_no", pl.UInt32), ("is_leader", pl.Boolean)]
        frame = pl.DataFrame(pairs, schema=[*types_of("grades", *PAIR).items(), *numbered])
        return not_in_the_lake(self.lake, "grades", committer.worker().rows(frame, readings))

    def _close(
        self, transaction: Transaction, sent: Sent, state: str, reason: str | None = None
    ) -> None:
        """What is under way of it still is so no more."""
        transaction.delete("replies", run_id=sent.batch_id, state="under way")
        self._set(transaction, sent, state=state, reason=reason, finished_at=utc_now())

    def _set(self, transaction: Transaction, sent: Sent, **values: Any) -> None:
        columns = ", ".join(f"{name} = ?" for name in values)
        transaction.run(
            f"update {{lake}}.raw.batches set {columns} where batch_id = ?",
            *values.values(),
            sent.batch_id,
        )
