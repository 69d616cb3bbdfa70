"""One run of a grader in batches: collect what was answered, submit what is missing."""

import math
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import polars as pl

from gradelake.grading.engines import TOKENS, EngineUnusable, Response
from gradelake.grading.engines._batches import (
    MOST_BYTES,
    OVER,
    Batch,
    Refused,
    Replies,
    Unsure,
    line,
)
from gradelake.grading.engines._connection import ACCOUNT
from gradelake.grading.graders import engine_finder
from gradelake.grading.plan.planner import Plan
from gradelake.grading.plan.prices import Price
from gradelake.grading.plan.request import Chunk
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.run.committer import Committer
from gradelake.grading.run.spending import Spending, replies_so_far
from gradelake.grading.run.submissions import PAIR, Submission, Submissions
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import GradelakeError

_AGAIN = "--retry-failed asks about its pairs again, and pays for them again."
_TICK = 0.2  # seconds between looks at signals


@dataclass
class Batched:
    """What a run did with batches; counts are of pairs."""

    counts: dict[str, int] = field(default_factory=dict)  # of grades, as `Committer.counts`
    notes: list[str] = field(default_factory=list)
    collected: int = 0
    batches_collected: int = 0
    again: int = 0  # no answer to their prompt: they are asked about again
    submitted: int = 0
    batches_submitted: int = 0
    under_way: int = 0  # at the end
    reserved: float | None = 0.0  # what those may cost at most; None: nobody knows
    out_of_money: bool = False


@dataclass
class _Part:
    """A batch that is being put together."""

    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    pairs: list[pl.DataFrame] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    reserved: float = 0.0


@dataclass
class BatchRun:
    """Its steps. Hold the grader's lock; a kill between any two of them loses and repeats nothing.

    1. the intent and its pairs are committed, under a name that is made here
    2. the prompts are sent under that name, and a batch is made of them
    3. that it was is committed
    4. once it is over, grades, what is to be asked again and its end are committed together

    An intent without step 3 is looked for at the provider: it is there, or its pairs are missing.
    """

    committer: Committer
    price: Price | None
    max_cost: float | None
    tell: Callable[[str], None]
    is_over: Callable[[], bool]  # nothing new is begun any more

    def __post_init__(self) -> None:
        self.lake, self.grader = self.committer.lake, self.committer.grader
        self.done = Batched(dict.fromkeys(self.committer.counts, 0))
        self.submissions = Submissions(self.lake, self.grader, self.committer.collection)
        self.engine = cast(Any, engine_finder.started(self.grader))  # one that takes batches
        self.api = self.engine.batches()
        self._line = console.now_and_then(
            lambda n, done, prompts: (
                f"waiting for {counted(n, 'batches')}: "
                f"{done:,} of {counted(prompts, 'prompts')} answered"
            )
        )

    def settle(self, give_up: bool) -> bool:
        """Collect what is over. Returns whether anything was.

        Raises `EngineUnusable`, once all else is collected, for a batch that was refused as a
        whole, and for one that cannot be collected; with `give_up` the latter's pairs are missing
        again.
        """
        troubles, waiting, before = [], [], self.done.batches_collected
        for submission in self.submissions.under_way():
            try:
                if batch := self._settled(submission):
                    waiting.append((batch.n_done, submission.n_prompts))
            except _Trouble as trouble:
                if give_up and isinstance(trouble, _Stuck):
                    self.submissions.end(submission, "failed", trouble.message)
                    self.tell(f"gave up {_title(submission)}: {trouble.message}")
                else:
                    troubles.append(trouble)
        if waiting:
            self._line(len(waiting), sum(n for n, _ in waiting), sum(n for _, n in waiting))
        self._count()
        if troubles:
            more = f" (and {len(troubles) - 1:,} more)" if troubles[1:] else ""
            raise EngineUnusable(f"{troubles[0].message}{more}", troubles[0].hint)
        return self.done.batches_collected > before

    def _settled(self, submission: Submission) -> Batch | None:
        """Go on with a submission; the batch while it is not over."""
        if submission.base_url != self.grader.settings["base_url"]:
            raise _Stuck(
                f"{_title(submission)} is at {submission.base_url}, not at base_url",
                f"Change base_url back until it is collected. {_AGAIN}",
            )
        try:
            if submission.provider_id is None:
                batch = self.api.settle(submission.submission_id)
                if batch is None:
                    self.submissions.end(submission, "withdrawn")
                    self.tell(f"{_title(submission)} was never sent; its pairs are missing")
                    return None
                self.submissions.submitted(submission, batch.id)
            else:
                batch = self.api.look(submission.provider_id)
            if batch.status not in OVER:
                return batch
            if batch.status == "failed":
                self.submissions.end(submission, "failed", batch.reason)
                raise _Trouble(
                    f"{_title(submission)} was refused: {batch.reason}",
                    "No pair is blamed for it; the same command submits them again.",
                )
            self._collect(submission, batch)
        except Refused as error:
            hint = f"{error.hint} {_AGAIN}" if error.hint else _AGAIN
            raise _Stuck(f"{_title(submission)}: {error.message}", hint) from None
        return None

    def _collect(self, submission: Submission, batch: Batch) -> None:
        name, n = submission.submission_id, submission.n_prompts
        came: Replies = self.api.replies(name, batch, n)
        replies, note = came.found, came.note
        if batch.status == "completed":
            for number in range(n):
                replies.setdefault(number, Response(error="the batch came back without a reply"))
        notes, self.engine.notes = [*self.engine.notes, *([note] if note else [])], []
        stack, self.engine.said = self.engine.stack(), {}
        state = "collected" if batch.status == "completed" else batch.status
        counts, again, unasked = self.submissions.collect(submission, replies, state, notes, stack)
        done = self.done
        for what, count in counts.items():
            done.counts[what] += count
        done.notes += [note for note in notes if note not in done.notes]
        done.collected += counts["pairs"]
        done.again += again
        done.batches_collected += 1
        self.tell(f"collected {counted(counts['pairs'], 'pairs')} of {_title(submission)}")
        if unasked:
            missing = counted(unasked, "pairs", "were")
            self.tell(f"{_title(submission)}: {batch.status}, {missing} not asked about")
        with suppress(EngineUnusable):  # it costs nothing
            self.api.forget(batch.input_file)
        if came.of_account or came.refused.total() == n:
            reason, times = came.refused.most_common(1)[0]
            refused = f"{times:,} of {counted(n, 'prompts', 'were')} refused"
            raise _Trouble(
                f"{_title(submission)}: {refused}: {reason}",
                f"{ACCOUNT if came.of_account else 'Check the key and model.'} No pair is blamed; "
                "the same command submits them again.",
            )

    def _count(self) -> None:
        under_way = self.submissions.under_way()
        self.done.under_way = sum(each.n_pairs for each in under_way)
        known = [each.reserved for each in under_way if each.reserved is not None]
        self.done.reserved = sum(known) if len(known) == len(under_way) else None

    # --- submitting -------------------------------------------------------------------------------

    def submit(self, plan: Plan, on_known: Callable[[Chunk], None]) -> int:
        """Submit what a plan asks, as far as there is money for it. Returns how many pairs.

        `on_known` gets chunks whose replies are known. Raises `EngineUnusable`.
        """
        n_before = self.done.submitted
        for part in self._parts(plan, on_known):
            if self.is_over():
                break
            self._send(part)
        self._count()
        return self.done.submitted - n_before

    def _parts(self, plan: Plan, on_known: Callable[[Chunk], None]) -> Iterator[_Part]:
        chunks: Iterator[Chunk] = plan.chunks()
        spending = None
        if self.price:
            left = math.inf
            if self.max_cost is not None:
                under_way = math.inf if self.done.reserved is None else self.done.reserved
                tokens = (self.done.counts[name] for name in TOKENS)
                left = self.max_cost - under_way - self.price.of(*tokens)
            chunks = spending = Spending(
                self.price, left, self.grader, chunks, *replies_so_far(self.lake, self.grader)
            )
        limits, part = self.submissions.limits(), _Part()
        most = self.grader.settings["batch_prompts"]
        for chunk in chunks:
            reserved = spending.reserved(chunk) if spending else 0.0
            known = [n for n, reply in enumerate(chunk.replies) if reply is not None]
            if known:
                on_known(chunk.part(known, "k"))
                chunk = chunk.part([n for n in range(chunk.n_prompts) if n not in known], "")
            waiting = [chunk] if chunk.n_prompts else []
            while waiting:
                piece = waiting.pop()
                bodies = self._bodies(piece, limits)
                lines = [
                    line(part.name, number, body)
                    for number, (body, *_) in enumerate(bodies, len(part.lines))
                ]
                size = part.size + sum(map(len, lines))
                if len(part.lines) + len(lines) <= most and size <= MOST_BYTES:
                    part.pairs.append(self._pairs(part, piece, bodies))
                    part.lines += lines
                    part.size = size
                    part.reserved += reserved * piece.n_prompts / chunk.n_prompts
                elif part.lines:
                    yield part
                    part = _Part()
                    waiting.append(piece)
                elif piece.n_prompts > 1:
                    waiting += reversed(piece.halves())
                else:
                    raise EngineUnusable("one prompt is larger than a batch may be")
        self.done.out_of_money = bool(spending and spending.waiting)
        if part.lines:
            yield part

    def _bodies(self, chunk: Chunk, limits: dict[tuple, int]) -> list[tuple[dict, int, int]]:
        """Of each prompt: what is sent, characters of its passage in that, and those left out."""
        leaders = chunk.pairs.filter("is_leader").sort("prompt_no").select(PAIR).rows()
        found = []
        for leader, values in zip(leaders, chunk.prompts, strict=True):
            prompt = self.grader.prompt.render(values)
            body, length = self.engine.body(prompt, limits.get(leader))
            found.append((body, length, len(prompt.passage) - length))
        return found

    def _pairs(
        self, part: _Part, chunk: Chunk, bodies: list[tuple[dict, int, int]]
    ) -> pl.DataFrame:
        """Rows of `raw.submitted_pairs`."""
        of_prompts = pl.DataFrame(
            {
                "passage_characters": [length for _, length, _ in bodies],
                "cut_characters": [cut for *_, cut in bodies],
            }
        ).with_row_index("prompt_no")
        if PARSERS[self.grader.parser].needs_gold:
            of_prompts = of_prompts.with_columns(chunk.asks["gold_answers"])
        return chunk.pairs.join(of_prompts, on="prompt_no").with_columns(
            pl.col("prompt_no").cast(pl.Int64) + len(part.lines), submission_id=pl.lit(part.name)
        )

    def _send(self, part: _Part) -> None:
        pairs = pl.concat(part.pairs)
        reserved = part.reserved if self.price else None
        submission = self.submissions.intend(part.name, pairs, reserved)
        self.tell(f"submitting {counted(pairs.height, 'pairs')}")
        try:
            batch = self.api.make(part.name, part.lines)
        except Refused as error:
            self.submissions.end(submission, "failed", error.message)
            url = self.grader.settings["base_url"]
            raise EngineUnusable(
                f"{url} refuses a batch: {error.message}",
                "Does it have a batch API? Else batch = false.",
            ) from None
        except Unsure as error:
            batch = self.api.settle(part.name)
            if batch is None:
                self.submissions.end(submission, "withdrawn")
                raise EngineUnusable(
                    f"no batch was made: {error}", "The same command submits it again."
                ) from None
        self.submissions.submitted(submission, batch.id)
        self.done.submitted += pairs.height
        self.done.batches_submitted += 1

    def pause(self) -> None:
        """Wait until it is time to look again, or nothing is to be begun any more."""
        until = time.monotonic() + self.grader.settings["batch_poll"]
        while time.monotonic() < until and not self.is_over():
            time.sleep(min(_TICK, self.grader.settings["batch_poll"]))


class _Trouble(GradelakeError):
    """A submission that cannot be gone on with."""


class _Stuck(_Trouble):
    """One that cannot be gone on with later either, unless it is given up."""


def _title(submission: Submission) -> str:
    return f"batch {submission.submission_id[:8]}"
