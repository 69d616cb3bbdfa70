"""One process that holds one engine: what to ask goes in, texts that were read come out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gradelake.grading.engines import Engine
from gradelake.grading.graders import engine_finder
from gradelake.grading.graders.grader import Grader
from gradelake.grading.prompts.prompt import Prompt
from gradelake.grading.prompts.written_reply import Unreadable, reader_of
from gradelake.grading.run.attempts import TRIES, score_with_retries

RETRY_TEMPERATURE = 0.7  # at least: greedy decoding would give the same reply again


@dataclass(frozen=True)
class QueryBatch:
    """A few queries, asked about together. `queries` are (query_id, values of the slots).

    They are asked with the grader's prompt, or with another one that asks for a text. Where it is
    not about queries, the ids are what tells one from the other.
    """

    id: str
    queries: tuple[tuple[str, Mapping[str, str]], ...]
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


@dataclass(frozen=True)
class Generated:
    """What became of one query: what was read in its reply, or the `error` of its last try.

    `items` is what the prompt's reader makes of a reply (`written_reply`): rubric items, an
    explanation, a rubric. `tries` counts the replies; `decoding` is that of the last one.
    """

    query_id: str
    items: Any
    error: str | None
    tries: int
    decoding: Mapping[str, float | int]
    tokens: int = 0  # of prompts and replies
    cut_characters: int = 0  # of the prompt's long text, which did not fit


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
        generated = ask(grader, self.engine, batch.queries)
        notes, self.engine.notes = self.engine.notes, []
        return Account(generated, notes)


def decoding_of(grader: Grader, attempt: int) -> dict[str, float | int]:
    """The decoding of a try, 0 the first: later ones are drawn, each with another seed."""
    decoding = dict(grader.decoding)
    if attempt:
        known = engine_finder.engine_of(grader).decoding
        changed = {
            "temperature": max(decoding["temperature"], RETRY_TEMPERATURE),
            "seed": decoding.get("seed", 0) + attempt,
        }
        decoding |= {key: value for key, value in changed.items() if not known or key in known}
    return decoding


def ask(
    grader: Grader, engine: Engine, queries: tuple[tuple[str, Mapping[str, str]], ...]
) -> list[Generated]:
    """What is read for every query, in order. A reply that cannot be read is asked for again, three
    tries in all; an engine's own errors have three tries each time (`score_with_retries`)."""
    read = reader_of(grader.prompt)
    found: dict[int, Generated] = {}
    pending = list(range(len(queries)))
    for attempt in range(TRIES):
        decoding = decoding_of(grader, attempt)
        engine.set_decoding(decoding)
        prompts = [grader.prompt.render(queries[n][1]) for n in pending]
        unread = []
        for n, response in zip(pending, score_with_retries(engine.score, prompts), strict=True):
            tokens = (response.prompt_tokens or 0) + (response.completion_tokens or 0)
            one = Generated(
                queries[n][0],
                None,
                response.error,
                attempt + 1,
                decoding,
                tokens,
                response.cut_characters,
            )
            if n in found:
                one = replace(one, tokens=tokens + found[n].tokens)
            if response.error is None:
                try:
                    one = replace(one, items=read(response.text))
                except Unreadable as error:
                    one = replace(one, error=str(error))
                    unread.append(n)
            found[n] = one
        pending = unread  # a prompt that the engine could not answer has had its tries
        if not pending:
            break
    return [found[n] for n in range(len(queries))]
