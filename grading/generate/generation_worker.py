"""One process that holds one engine: what to ask goes in, texts that were read come out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradelake.grading.engines import Engine
from gradelake.grading.generate.asking import Generated, ask
from gradelake.grading.generate.nuggets import create
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt


@dataclass(frozen=True)
class QueryBatch:
    """A few queries, asked about together. `queries` are (query_id, values of the slots).

    They are asked with the grader's prompt, or with another one that asks for a text. Where it is
    not about queries, the ids are what tells one from the other. Where nuggets are made out of
    passages, `passages` among the values are (passage_id, text) pairs.
    """

    id: str
    queries: tuple[tuple[str, Mapping[str, Any]], ...]
    prompt: Prompt | None = None

    @property
    def n_prompts(self) -> int:
        return len(self.queries)

    def halves(self) -> "tuple[QueryBatch, QueryBatch]":
        """The first half of the queries, and the rest."""
        middle = self.n_prompts // 2
        return (
            replace(self, id=f"{self.id}a", queries=self.queries[:middle]),
            replace(self, id=f"{self.id}b", queries=self.queries[middle:]),
        )


@dataclass
class Account:
    """What came of a batch; `notes` are the engine's, for people."""

    generated: list[Generated]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class GenerationWorker:
    """Asks one engine for texts. Runs inside a Ray actor, or anywhere."""

    grader: Grader
    engine: Engine | None = None  # once it is started

    def started(self) -> "GenerationWorker":
        """With its engine loaded. Raises `EngineUnusable` when that cannot be done."""
        return replace(self, engine=engine_finder.started(self.grader))

    def died(self, batch: QueryBatch, reason: str) -> Account:
        """The account of a batch that killed each worker that tried."""
        failed = [Generated(query_id, None, reason, 0, {}) for query_id, _ in batch.queries]
        return Account(failed)

    def grade(self, batch: QueryBatch) -> Account:
        """Ask about every query of the batch. Raises as `Worker.grade` does."""
        assert self.engine is not None
        grader = replace(self.grader, prompt=batch.prompt or self.grader.prompt)
        if self.engine.grader.prompt != grader.prompt:
            self.engine.set_prompt(grader.prompt)
        written = create if grader.prompt.importance else ask
        generated = written(grader, self.engine, batch.queries)
        notes, self.engine.notes = self.engine.notes, []
        return Account(generated, notes)
