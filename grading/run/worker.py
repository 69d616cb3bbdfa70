"""What a process with an engine does: chunks go in, rows of grades come out."""

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from gradelake.grading.ask.recorder import Account, Asking
from gradelake.grading.engines import TOKENS, Engine, Response
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Chunk
from gradelake.grading.prompts.reply import Reading, failed
from gradelake.grading.run.attempts import ask, distribution, expectation
from gradelake.sql.common.clock import utc_now


@dataclass
class Graded(Account):
    """A chunk's account."""

    rows: pl.DataFrame  # of `raw.grades`, with `prompt_no` and `is_leader`
    seconds: float = 0.0  # in the engine


@dataclass(frozen=True)
class Worker:
    """Grades chunks. Runs inside a Ray actor that has the engine, or anywhere."""

    side_by_side: ClassVar[bool] = True  # chunks of an engine that takes several
    grader: Grader
    collection: str
    run_id: str

    def died(self, chunk: Chunk, reason: str) -> Graded:
        """A chunk as failed, without an engine: it killed each one that tried."""
        return self._graded(
            chunk, [(failed(reason), Response(error=reason, is_final=True))] * chunk.n_prompts
        )

    def grade(self, engine: Asking, chunk: Chunk) -> Graded:
        """Grade a chunk.

        Raises `EngineUnusable` where the run has to stop, `EngineBroken` where another process
        should try.
        """
        started = time.perf_counter()
        answered = ask(self.grader, engine.score, chunk)
        return self._graded(chunk, answered, time.perf_counter() - started)

    def partly(self, engine: Asking, chunk: Chunk) -> Graded:
        """Grade what was answered before the engine could not go on."""
        answered: dict[int, tuple[Reading, Response]] = {}
        for n in range(chunk.n_prompts):
            with engine.replaying() as replay:
                ((reading, response),) = ask(self.grader, replay.score, chunk.part([n], ""))
                if reading.status == "failed":
                    replay.discard()
                answered[n] = reading, response
        return self._graded(chunk.part([*answered], "p"), [*answered.values()])

    def compare(self, chunk: Chunk) -> Graded:
        """Grade a chunk whose replies are all known, without an engine."""
        return self._graded(chunk, ask(self.grader, Engine(self.grader).score, chunk))

    def _graded(
        self, chunk: Chunk, answered: list[tuple[Reading, Response]], seconds: float = 0.0
    ) -> Graded:
        rows = self.rows(chunk.pairs, answered)
        return Graded(chunk.id, counts_of(rows), rows, seconds)

    def rows(self, pairs: pl.DataFrame, answered: list[tuple[Reading, Response]]) -> pl.DataFrame:
        """The grades of a chunk's pairs, with `prompt_no` and `is_leader`."""
        words = list(self.grader.prompt.grade_scale.words.values())
        answers = []
        for reading, response in answered:
            expected, mass = expectation(response.probabilities, words)
            answers.append(
                {
                    **{name: getattr(reading, name) for name in reading.__slots__},
                    "failure": failure_of(reading, response),
                    "response": None if response.error else response.text,
                    "reasoning": response.reasoning,
                    "expected_grade": expected if reading.status != "failed" else None,
                    "probabilities": distribution(response.probabilities, words)
                    if reading.status != "failed"
                    else None,
                    "scale_mass": None if response.constrained_probabilities else mass,
                    **{name: getattr(response, name) for name in (*TOKENS, "cut_characters")},
                }
            )
        prompts = pl.DataFrame(answers, schema=_OF_A_PROMPT).with_row_index("prompt_no")
        # a pair that shares another's prompt cost nothing
        free = [pl.when("is_leader").then(name).otherwise(0).alias(name) for name in TOKENS]
        rows = pairs.join(prompts, on="prompt_no", how="left", maintain_order="left")
        return rows.with_columns(
            *free,
            grader_id=pl.lit(self.grader.grader_id),
            collection=pl.lit(self.collection),
            run_id=pl.lit(self.run_id),
            graded_at=pl.lit(utc_now()),
        )


def failure_of(reading: Reading, response: Response) -> str | None:
    """Why there is no grade (`FAILURES`): no reply, one that will never come, or one that says
    none."""
    if reading.status != "failed":
        return None
    if response.error is None:
        return "unreadable"
    return "refused" if response.is_final else "no_reply"


def counts_of(rows: pl.DataFrame) -> dict[str, int]:
    """What `Worker.rows` hold, in numbers; what was paid for them the log tells."""
    counts = dict(rows["status"].value_counts().iter_rows())
    counts["pairs"] = rows.height
    counts["reused"] = rows.height - rows["is_leader"].sum()
    counts["cut"] = (rows["cut_characters"] > 0).sum()
    return counts


_OF_A_PROMPT: dict[str, Any] = {
    **dict.fromkeys(("status", "answer", "response", "reasoning", "error", "failure"), pl.String),
    **dict.fromkeys(("expected_grade", "scale_mass"), pl.Float64),
    "probabilities": pl.List(pl.Float64),
    **dict.fromkeys(("grade", *TOKENS, "cut_characters"), pl.Int64),
}
