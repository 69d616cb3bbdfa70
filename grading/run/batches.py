"""One run of a grader in batches: collect what was answered, submit what is missing."""

import math
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import polars as pl

from gradelake.grading.ask.entry import OF_WHAT, hash_of
from gradelake.grading.engines import TOKENS, EngineUnusable, Response
from gradelake.grading.engines._batches import MOST_BYTES, OVER, Batch, Refused, Unsure, line
from gradelake.grading.engines._connection import ACCOUNT
from gradelake.grading.graders import engine_finder
from gradelake.grading.plan.planner import GradingPlan
from gradelake.grading.plan.prices import Price
from gradelake.grading.plan.request import Chunk
from gradelake.grading.prompts.parsers import PARSERS
from gradelake.grading.run.batch_log import PAIR, BatchLog, Sent, Tries
from gradelake.grading.run.committer import Committer
from gradelake.grading.run.spending import Spending, replies_so_far
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
    prompts: list[dict[str, Any]] = field(default_factory=list)  # as `BatchLog.intend` has them
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    reserved: float = 0.0


@dataclass
class BatchRun:
    """Its steps. Hold the grader's lock; a kill between any two of them loses and repeats nothing.

    1. the intent is committed under a name that is made here: its prompts are under way
    2. the prompts are sent under that name, and a batch is made of them
    3. that it was is committed
    4. once it is over, replies, grades and its end are committed together

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
        self.log = BatchLog(self.committer)
        self.engine = cast(Any, engine_finder.started(self.grader))  # one that takes batches
        self.api = self.engine.batches()
        self.hash_of = hash_of(self.grader, self.committer.about.round)
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
        for sent in self.log.under_way():
            try:
                if batch := self._settled(sent):
                    waiting.append((batch.n_done, sent.n_prompts))
            except _Trouble as trouble:
                if give_up and isinstance(trouble, _Stuck):
                    self.log.end(sent, "failed", trouble.message, paid=True)
                    self.tell(f"gave up {_title(sent)}: {trouble.message}")
                else:
                    troubles.append(trouble)
        if waiting:
            self._line(len(waiting), sum(n for n, _ in waiting), sum(n for _, n in waiting))
        self._count()
        if troubles:
            more = f" (and {len(troubles) - 1:,} more)" if troubles[1:] else ""
            raise EngineUnusable(f"{troubles[0].message}{more}", troubles[0].hint)
        return self.done.batches_collected > before

    def _settled(self, sent: Sent) -> Batch | None:
        """Go on with a batch; as it is while it is not over."""
        if sent.base_url != self.grader.settings["base_url"]:
            raise _Stuck(
                f"{_title(sent)} is at {sent.base_url}, not at base_url",
                f"Change base_url back until it is collected. {_AGAIN}",
            )
        try:
            batch = (
                self._made(sent) if sent.provider_id is None else self.api.look(sent.provider_id)
            )
            if batch is None:
                self.tell(f"{_title(sent)} was never sent; its pairs are missing")
                return None
            if batch.status not in OVER:
                return batch
            if batch.status == "failed":
                self.log.end(sent, "failed", batch.reason)
                raise _Trouble(
                    f"{_title(sent)} was refused: {batch.reason}",
                    "No pair is blamed for it; the same command submits them again.",
                )
            self._collect(sent, batch)
        except Refused as error:
            hint = f"{error.hint} {_AGAIN}" if error.hint else _AGAIN
            raise _Stuck(f"{_title(sent)}: {error.message}", hint) from None
        return None

    def _made(self, sent: Sent) -> Batch | None:
        """The batch of an intent; None: there is none, and never will be."""
        batch = self.api.settle(sent.batch_id)
        if batch is None:
            self.log.end(sent, "withdrawn")
        else:
            self.log.submitted(sent, batch.id)
        return batch

    def _collect(self, sent: Sent, batch: Batch) -> None:
        prompts = self.log.prompts(sent)
        ids = {each["reply_id"] for each in prompts}
        came = self.api.replies(batch, ids)
        replies, note = came.found, came.note
        if batch.status == "completed":
            for prompt in ids - replies.keys():
                replies[prompt] = Response(error="the batch came back without a reply")
        notes, self.engine.notes = [*self.engine.notes, *([note] if note else [])], []
        stack, self.engine.said = self.engine.stack(), {}
        state = "collected" if batch.status == "completed" else batch.status
        counts, again, unasked = self.log.collect(sent, prompts, replies, state, notes, stack)
        done = self.done
        for what, count in counts.items():
            done.counts[what] += count
        done.notes += [note for note in notes if note not in done.notes]
        done.collected += counts["pairs"]
        done.again += again
        done.batches_collected += 1
        self.tell(f"collected {counted(counts['pairs'], 'pairs')} of {_title(sent)}")
        if unasked:
            missing = counted(unasked, "pairs", "were")
            self.tell(f"{_title(sent)}: {batch.status}, {missing} not asked about")
        with suppress(EngineUnusable):  # it costs nothing
            self.api.forget(batch.input_file)
        if came.of_account or came.refused.total() == len(ids):
            reason, times = came.refused.most_common(1)[0]
            refused = f"{times:,} of {counted(len(ids), 'prompts', 'were')} refused"
            raise _Trouble(
                f"{_title(sent)}: {refused}: {reason}",
                f"{ACCOUNT if came.of_account else 'Check the key and model.'} No pair is blamed; "
                "the same command submits them again.",
            )

    def _count(self) -> None:
        under_way = self.log.under_way()
        self.done.under_way = sum(each.n_pairs for each in under_way)
        known = [each.reserved for each in under_way if each.reserved is not None]
        self.done.reserved = sum(known) if len(known) == len(under_way) else None

    # --- submitting -------------------------------------------------------------------------------

    def submit(self, plan: GradingPlan, on_known: Callable[[Chunk], None]) -> int:
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

    def _parts(self, plan: GradingPlan, on_known: Callable[[Chunk], None]) -> Iterator[_Part]:
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
        tries, part = self.log.tries(), _Part()
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
                prompts, lines = self._prompts(part, piece, tries)
                size = part.size + sum(map(len, lines))
                if len(part.lines) + len(lines) <= most and size <= MOST_BYTES:
                    part.prompts += prompts
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

    def _prompts(
        self, part: _Part, chunk: Chunk, tries: Tries
    ) -> tuple[list[dict[str, Any]], list[bytes]]:
        """What the log has of each prompt of a chunk, and its line in the batch's file."""
        rows, lines = [], []
        pairs = self._pairs(chunk)
        for number, (values, own) in enumerate(zip(chunk.prompts, pairs, strict=True)):
            prompt = self.grader.prompt.render(values)
            row = {
                "reply_id": f"{part.name}-{len(part.lines) + number}",
                "asked": self.hash_of(prompt),
                "prompt_bytes": prompt.n_bytes,
                **{name: own[0][name] for name in OF_WHAT},
                "pairs": own,
            }
            row["attempt"] = len(tries.of(row)) + 1
            body, length = self.engine.body(prompt, tries.limit(row, prompt.passage))
            row["cut_characters"] = len(prompt.passage) - length
            rows.append(row)
            lines.append(line(row["reply_id"], body))
        return rows, lines

    def _pairs(self, chunk: Chunk) -> list[list[dict[str, Any]]]:
        """The pairs of each prompt, its first one first, with what their grade is made with."""
        found: list[list[dict[str, Any]]] = [[] for _ in range(chunk.n_prompts)]
        needs_gold = PARSERS[self.grader.parser].needs_gold
        golds = chunk.gold_answers
        for row in chunk.pairs.sort("prompt_no", pl.col("is_leader").not_()).to_dicts():
            number = row["prompt_no"]
            pair = {name: row[name] for name in PAIR}
            found[number].append(pair | {"gold_answers": golds[number] if needs_gold else None})
        return found

    def _send(self, part: _Part) -> None:
        sent = self.log.intend(part.name, part.prompts, part.reserved if self.price else None)
        self.tell(f"submitting {counted(sent.n_pairs, 'pairs')}")
        try:
            self.log.submitted(sent, self.api.make(part.name, part.lines).id)
        except Refused as error:
            self.log.end(sent, "failed", error.message)
            url = self.grader.settings["base_url"]
            raise EngineUnusable(
                f"{url} refuses a batch: {error.message}",
                "Does it have a batch API? Else batch = false.",
            ) from None
        except Unsure as error:
            if self._made(sent) is None:
                raise EngineUnusable(
                    f"no batch was made: {error}", "The same command submits it again."
                ) from None
        self.done.submitted += sent.n_pairs
        self.done.batches_submitted += 1

    def pause(self) -> None:
        """Wait until it is time to look again, or nothing is to be begun any more."""
        until = time.monotonic() + self.grader.settings["batch_poll"]
        while time.monotonic() < until and not self.is_over():
            time.sleep(min(_TICK, self.grader.settings["batch_poll"]))


class _Trouble(GradelakeError):
    """A batch that cannot be gone on with."""


class _Stuck(_Trouble):
    """A batch that cannot be gone on with later either, unless it is given up."""


def _title(sent: Sent) -> str:
    return f"batch {sent.batch_id[:8]}"
