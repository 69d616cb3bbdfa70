"""Workers that write texts: what to ask goes in, what was read comes out, and all who want to know
how it goes are told."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from gradelake.grading.ask.recorder import Account, Asking
from gradelake.grading.ask.reply_log import ReplyLog
from gradelake.grading.generate.asking import Generated, ask
from gradelake.grading.generate.nuggets import create
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt
from gradelake.grading.run.attempts import TRIES
from gradelake.grading.run.crew import Crew
from gradelake.grading.run.grader_run import stop_signals
from gradelake.grading.run.spending import Spending
from gradelake.sql.common import console
from gradelake.sql.common.counted import counted

Queries = tuple[tuple[str, Mapping[str, Any]], ...]
BATCH = 16  # that are asked about, and kept, together


@dataclass(frozen=True)
class QueryBatch:
    """A few queries, asked about together. `queries` are (query_id, values of the slots).

    They are asked with the grader's prompt, or with another one that asks for a text. Where it is
    not about queries, the ids are what tells one from the other. Where nuggets are made out of
    passages, `passages` among the values are (passage_id, text) pairs.
    """

    id: str
    queries: Queries
    prompt: Prompt | None = None

    @property
    def n_prompts(self) -> int:
        return len(self.queries)

    def __len__(self) -> int:
        return self.n_prompts

    def to_ask(self, prompt: Prompt) -> list[tuple[Mapping[str, Any], int]]:
        """The values of each query's prompt, and how often it is asked at most."""
        return [(values, TRIES) for _, values in self.queries]

    def halves(self) -> "tuple[QueryBatch, QueryBatch]":
        middle = self.n_prompts // 2
        return (
            replace(self, id=f"{self.id}a", queries=self.queries[:middle]),
            replace(self, id=f"{self.id}b", queries=self.queries[middle:]),
        )


def batches_of(asked: Queries | list, name: str = "") -> Iterator[QueryBatch]:
    """What is asked together; names begin with the given one."""
    for start in range(0, len(asked), BATCH):
        yield QueryBatch(f"{name}{start:08d}", tuple(asked[start : start + BATCH]))


@dataclass
class Wrote(Account):
    """A batch's account."""

    generated: list[Generated]


@dataclass(frozen=True)
class GenerationWorker:
    """Asks an engine for texts. Runs inside a Ray actor that has it, or anywhere."""

    side_by_side: ClassVar[bool] = False  # a second try, and another prompt, change the engine
    grader: Grader

    def died(self, batch: QueryBatch, reason: str) -> Wrote:
        """The account of a batch that killed each worker that tried."""
        failed = [Generated(query_id, None, reason, 0, {}) for query_id, _ in batch.queries]
        return _wrote(batch, failed)

    def grade(self, engine: Asking, batch: QueryBatch) -> Wrote:
        """Ask about every query of the batch. Raises as `Worker.grade` does."""
        return _wrote(batch, self._written(engine, batch, batch.queries))

    def partly(self, engine: Asking, batch: QueryBatch) -> Wrote:
        """What is read of the queries that were answered before the engine could not go on."""
        found: list[Generated] = []
        for query in batch.queries:
            with engine.replaying() as replay:
                found += self._written(replay, batch, (query,))
        return _wrote(batch, found)

    def _written(self, engine: Any, batch: QueryBatch, queries: Queries) -> list[Generated]:
        grader = replace(self.grader, prompt=batch.prompt or self.grader.prompt)
        if engine.grader.prompt != grader.prompt:
            engine.set_prompt(grader.prompt)
        written = create if grader.prompt.importance else ask
        return written(grader, engine, queries)


def _wrote(batch: QueryBatch, generated: list[Generated]) -> Wrote:
    return Wrote(batch.id, {"pairs": len(generated)}, generated)


@dataclass(kw_only=True)
class WritingRun:
    """What is noted of every run that asks for texts."""

    tokens: int = 0
    stopped: bool = False
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)  # of the engine, each once

    def progress(self) -> str:
        """How far it is, in a line."""
        raise NotImplementedError

    def run_facts(self) -> dict[str, Any]:
        """What `--json` prints of them."""
        return {
            "notes": self.notes,
            "stopped": self.stopped,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }


@dataclass
class Writers:
    """A crew at work on one run's batches."""

    crew: Crew
    log: ReplyLog
    stop: Callable[[], bool]
    outcome: Any  # of the run: a `WritingRun`

    def __post_init__(self) -> None:
        self.show_progress = console.now_and_then(self.outcome.progress)

    def ask(
        self, batches: Iterable[QueryBatch], spending: Spending | None = None
    ) -> Iterator[list[Generated]]:
        """What became of each batch, as it comes in; who makes something of it commits the log, too
        (`ReplyLog.commit`). `spending`: the batches that there is money for."""
        for account in self.crew.run(iter(spending or batches), self.stop):
            if account:
                self.log.came(account.replies)
                if spending:
                    spending.settle(account)
                for note in account.notes:
                    if note not in self.outcome.notes:
                        self.outcome.notes.append(note)
                        console.warn(f"note: {note}")
                paid = account.replies.paid
                self.outcome.tokens += paid["prompt_tokens"] + paid["completion_tokens"]
                yield account.generated
            self.show_progress()


@contextmanager
def writers(log: ReplyLog, outcome: WritingRun) -> Iterator[Writers]:
    """The workers of a grader; a signal of the user's stops them."""
    if recovered := log.recover():
        console.tell(f"kept {counted(recovered, 'replies')} of an interrupted run")
    console.tell(f"starting workers for {log.grader.name}")
    try:
        # Ray handles signals as well: ours have to come after
        with Crew(GenerationWorker(log.grader), log) as crew, stop_signals() as stop:
            yield Writers(crew, log, stop, outcome)
            outcome.stopped = stop()
            outcome.seconds = time.monotonic() - log.began
    finally:
        log.end()
