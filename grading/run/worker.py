"""What a process with an engine does: chunks go in, files of grades come out, into the staging
folder of the run."""

import io
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from gradelake.grading.engines import Engine, Response
from gradelake.grading.graders.grader import Grader
from gradelake.grading.plan.request import Chunk
from gradelake.grading.prompts.reply import Reading, failed
from gradelake.grading.run.attempts import TOKENS, ask, distribution, expectation
from gradelake.sql.common.clock import utc_now


@dataclass
class Graded:
    """A chunk's account. `file` is where its rows are; `content` has them instead, where the
    worker's machine does not share the run's staging folder: they come back through Ray."""

    chunk_id: str
    file: str | None = None
    content: bytes | None = None
    counts: dict[str, int] = field(default_factory=dict)
    longest: int = 0  # tokens of the longest reply to one prompt
    seconds: float = 0.0  # in the engine
    notes: list[str] = field(default_factory=list)  # of the engine, for people
    stack: dict[str, Any] = field(default_factory=dict)  # what the engine runs on
    chunks_now: int = 1  # that the engine wants to have at work


@dataclass(frozen=True)
class Worker:
    """Grades chunks. Runs inside a Ray actor that has the engine, or anywhere."""

    side_by_side: ClassVar[bool] = True  # chunks of an engine that takes several
    grader: Grader
    collection: str
    staging: Path
    run_id: str

    def died(self, chunk: Chunk, reason: str) -> Graded:
        """Record a chunk as failed, without an engine: it killed each one that tried."""
        return self.write(chunk, [(failed(reason), Response(error=reason))] * chunk.n_prompts)

    def grade(self, engine: Engine, chunk: Chunk) -> Graded:
        """Grade a chunk and write its rows to the staging folder, whole or not at all.

        Raises `EngineUnusable` where the run has to stop, `EngineBroken` where another process
        should try.
        """
        started = time.perf_counter()
        answered = ask(self.grader, engine.score, chunk)
        return self.write(chunk, answered, time.perf_counter() - started)

    def compare(self, chunk: Chunk) -> Graded:
        """Grade a chunk whose replies are all known, without an engine."""
        return self.write(chunk, ask(self.grader, Engine(self.grader).score, chunk))

    def write(
        self, chunk: Chunk, answered: list[tuple[Reading, Response]], seconds: float = 0.0
    ) -> Graded:
        """Put a chunk's rows into the staging folder."""
        rows = self.rows(chunk, answered)
        graded = Graded(chunk.id, counts=counts_of(rows), seconds=seconds)
        graded.longest = rows.select(pl.col("completion_tokens").max()).item() or 0
        buffer = io.BytesIO()
        rows.write_parquet(buffer)
        is_shared = os.path.exists(shared_mark(self.staging, self.run_id))
        if is_shared and os.access(self.staging, os.W_OK):
            graded.file = write_staged(self.staging, chunk.id, buffer.getvalue())
        else:
            graded.content = buffer.getvalue()
        return graded

    def rows(self, chunk: Chunk, answered: list[tuple[Reading, Response]]) -> pl.DataFrame:
        """The grades of a chunk, with `prompt_no` and `is_leader`."""
        words = list(self.grader.prompt.grade_scale.words.values())
        answers = []
        for reading, response in answered:
            expected, mass = expectation(response.probabilities, words)
            answers.append(
                {
                    **{name: getattr(reading, name) for name in reading.__slots__},
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
        rows = chunk.pairs.join(prompts, on="prompt_no", how="left", maintain_order="left")
        return rows.with_columns(
            *free,
            grader_id=pl.lit(self.grader.grader_id),
            collection=pl.lit(self.collection),
            run_id=pl.lit(self.run_id),
            graded_at=pl.lit(utc_now()),
        )


def counts_of(rows: pl.DataFrame) -> dict[str, int]:
    """What `Worker.rows` hold, in numbers."""
    counts = dict(rows["status"].value_counts().iter_rows())
    for name in TOKENS:
        counts[name] = rows[name].sum() or 0
    counts["pairs"] = rows.height
    counts["reused"] = rows.height - rows["is_leader"].sum()
    counts["cut"] = (rows["cut_characters"] > 0).sum()
    is_paid = pl.col("is_leader") & pl.col("response").is_not_null()
    is_counted = pl.col("prompt_tokens").is_not_null() & pl.col("completion_tokens").is_not_null()
    counts["uncounted"] = rows.select((is_paid & ~is_counted).sum()).item()
    return counts


_OF_A_PROMPT: dict[str, Any] = {
    **dict.fromkeys(("status", "answer", "response", "reasoning", "error"), pl.String),
    **dict.fromkeys(("expected_grade", "scale_mass"), pl.Float64),
    "probabilities": pl.List(pl.Float64),
    **dict.fromkeys(("grade", *TOKENS, "cut_characters"), pl.Int64),
}


def shared_mark(staging: Path, run_id: str) -> Path:
    """The file by which a worker knows the run's own staging folder. On another machine a folder
    of the same name may be there, and the driver would never find the answers there."""
    return staging / f".{run_id}.run"


def write_staged(staging: Path, chunk_id: str, content: bytes) -> str:
    """Write a chunk's file under its id; it appears whole or not at all. Returns its path."""
    path = staging / f"{chunk_id}.parquet"
    unfinished = staging / f".{chunk_id}.{os.getpid()}"
    with unfinished.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.replace(path)
    return str(path)
