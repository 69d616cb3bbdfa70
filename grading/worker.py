"""One process that holds one engine: chunks go in, files of grades come out."""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from grading import engine_finder
from grading.engines import EngineUnusable, Response
from grading.grader import Grader
from grading.parsers import PARSERS
from grading.planner import Chunk
from grading.reply import Reading, failed
from sql.transaction import utc_now

if TYPE_CHECKING:
    from grading.prompt import Rendered

TRIES = 3  # of a pair, before it is recorded as failed


@dataclass
class Graded:
    """A chunk's account. `file` is where its rows are; `content` instead, where this machine does
    not see the staging folder."""

    chunk_id: str
    file: str | None = None
    content: bytes | None = None
    counts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0  # in the engine
    unusable: tuple[str, str] | None = None  # message and hint: the run has to stop


@dataclass(frozen=True)
class Worker:
    """Grades chunks with one engine. Runs inside a Ray actor, or anywhere."""

    grader: Grader
    collection: str
    staging: Path
    batch_id: str
    engine: object

    @classmethod
    def start(cls, grader: Grader, collection: str, staging: Path, batch_id: str) -> "Worker":
        """Load the engine. Raises `EngineUnusable` when that cannot be done."""
        try:
            engine = engine_finder.load(grader.engine, grader.engine_file)(grader)
        except ImportError as error:
            raise EngineUnusable(
                f"{grader.engine}: {error}", grader.engine_class.install
            ) from error
        return cls(grader, collection, staging, batch_id, engine)

    def grade(self, chunk: Chunk) -> Graded:
        """Grade a chunk and write its rows to the staging folder, whole or not at all."""
        started = time.perf_counter()
        try:
            answered = self._answer(chunk)
        except EngineUnusable as error:
            return Graded(chunk.id, unusable=(error.message, error.hint))
        seconds = time.perf_counter() - started
        return self.write(chunk, answered, seconds)

    def write(
        self, chunk: Chunk, answered: list[tuple[Reading, Response]], seconds: float = 0.0
    ) -> Graded:
        """Put a chunk's rows into the staging folder."""
        rows = self._rows(chunk, answered)
        graded = Graded(chunk.id, counts=_counts(rows), seconds=seconds)
        if self.staging.is_dir():
            graded.file = write_staged(self.staging, chunk.id, rows)
        else:
            graded.content = to_parquet(rows)
        return graded

    def _answer(self, chunk: Chunk) -> list[tuple[Reading, Response]]:
        """Reading and response of every prompt of the chunk."""
        prompt, parser = self.grader.prompt, PARSERS[self.grader.parser]
        if prompt.target == "verify":
            return self._verify(chunk)
        rendered = [prompt.render(values) for values in chunk.prompts]
        responses = score_with_retries(self.engine.score, rendered)
        return [
            (_read(parser, response, prompt.scale, gold), response)
            for response, gold in zip(responses, chunk.gold_answers, strict=True)
        ]

    def _verify(self, chunk: Chunk) -> list[tuple[Reading, Response]]:
        """An answer is right when it equals any of the gold answers: one prompt for each."""
        prompt, parser = self.grader.prompt, PARSERS[self.grader.parser]
        owners, rendered = [], []
        for number, (values, gold) in enumerate(
            zip(chunk.prompts, chunk.gold_answers, strict=True)
        ):
            for answer in gold or []:
                owners.append(number)
                rendered.append(prompt.render({**values, "gold_answer": answer}))
        best: dict[int, tuple[Reading, Response]] = {}
        for owner, response in zip(
            owners, score_with_retries(self.engine.score, rendered), strict=True
        ):
            reading = _read(parser, response, prompt.scale, None)
            if known := best.get(owner):
                reading = max(known[0], reading, key=lambda r: -1 if r.grade is None else r.grade)
                response = _together(known[1], response)
            best[owner] = (reading, response)
        return [
            (replace(best[n][0], answer=values["answer"]), best[n][1])
            for n, values in enumerate(chunk.prompts)
        ]

    def _rows(self, chunk: Chunk, answered: list[tuple[Reading, Response]]) -> pl.DataFrame:
        words = list(self.grader.prompt.scale.words.values())
        columns: dict[str, list] = {name: [] for name in _OF_A_PROMPT}
        for reading, response in answered:
            expected, mass = expectation(response.probabilities, words)
            columns["grade"].append(reading.grade)
            columns["status"].append(reading.status)
            columns["answer"].append(reading.answer)
            columns["response"].append(None if response.error else response.text)
            columns["error"].append(reading.error)
            columns["expected_grade"].append(expected if reading.status != "failed" else None)
            columns["scale_mass"].append(None if response.constrained_probabilities else mass)
            columns["prompt_tokens"].append(response.prompt_tokens)
            columns["cached_tokens"].append(response.cached_tokens)
            columns["completion_tokens"].append(response.completion_tokens)
            columns["cut_characters"].append(response.cut_characters)
        prompts = pl.DataFrame(columns, schema=_OF_A_PROMPT).with_row_index("prompt_no")
        # a pair that shares another's prompt cost nothing
        free = [
            pl.when("is_leader").then(pl.col(name)).otherwise(pl.lit(0)).alias(name)
            for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
        ]
        return (
            chunk.pairs.with_columns(pl.col("prompt_no").cast(pl.UInt32))
            .join(prompts, on="prompt_no", how="left", maintain_order="left")
            .with_columns(
                *free,
                pl.lit(self.grader.grader_id).alias("grader_id"),
                pl.lit(self.collection).alias("collection"),
                pl.lit(self.batch_id).alias("batch_id"),
                pl.lit(utc_now()).alias("graded_at"),
            )
        )


def died(
    grader: Grader, collection: str, staging: Path, batch_id: str, chunk: Chunk, reason: str
) -> Graded:
    """Record a chunk as failed, without an engine: it killed each one that tried."""
    nothing = (failed(reason), Response(error=reason))
    worker = Worker(grader, collection, staging, batch_id, engine=None)
    return worker.write(chunk, [nothing] * len(chunk.prompts))


def score_with_retries(
    score: Callable[[Sequence["Rendered"]], list[Response]], prompts: Sequence["Rendered"]
) -> list[Response]:
    """Responses to all prompts; those with an error are asked three times in all.

    When an engine raises, the prompts are asked one by one from then on, so that the one at fault
    fails alone. `EngineUnusable` goes through.
    """
    responses: list[Response | None] = [None] * len(prompts)
    pending, together = list(range(len(prompts))), True
    for _ in range(TRIES):
        groups = [pending] if together else [[n] for n in pending]
        for group in groups:
            try:
                answers = score([prompts[n] for n in group])
                if len(answers) != len(group):
                    raise ValueError(f"{len(answers)} responses to {len(group)} prompts")
            except EngineUnusable:
                raise
            except Exception as error:
                together = False
                answers = [Response(error=f"{type(error).__name__}: {error}")] * len(group)
            for n, answer in zip(group, answers, strict=True):
                responses[n] = answer
        pending = [n for n in pending if responses[n].error is not None]
        if not pending:
            break
    return responses


def expectation(
    probabilities: Sequence[float] | None, grades: Sequence[int]
) -> tuple[float | None, float | None]:
    """(mean grade under the probabilities of the scale's words, sum of those probabilities)."""
    if probabilities is None:
        return None, None
    mass = sum(probabilities)
    if not mass:
        return None, 0.0
    return sum(p * g for p, g in zip(probabilities, grades, strict=True)) / mass, mass


def _read(parser, response: Response, scale, gold: list[str] | None) -> Reading:
    if response.error is not None:
        return failed(response.error)
    return parser.read(response.text, scale, gold)


def _together(one: Response, other: Response) -> Response:
    """The last response, with the tokens of both."""
    return replace(
        other,
        **{
            name: (getattr(one, name) or 0) + (getattr(other, name) or 0)
            for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
        },
    )


# --- files --------------------------------------------------------------------------------------


def to_parquet(rows: pl.DataFrame) -> bytes:
    """Rows as the bytes of a Parquet file."""
    import io

    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    return buffer.getvalue()


def write_staged(staging: Path, chunk_id: str, rows: pl.DataFrame | bytes) -> str:
    """Write a chunk's file under its id; it appears whole or not at all. Returns its path."""
    content = rows if isinstance(rows, bytes) else to_parquet(rows)
    path = staging / f"{chunk_id}.parquet"
    unfinished = staging / f".{chunk_id}.{os.getpid()}"
    with unfinished.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    unfinished.replace(path)
    return str(path)


def _counts(rows: pl.DataFrame) -> dict[str, int]:
    counts = dict(rows["status"].value_counts().iter_rows())
    for name in ("prompt_tokens", "cached_tokens", "completion_tokens"):
        counts[name] = rows[name].sum() or 0
    counts["pairs"] = rows.height
    counts["reused"] = rows.height - rows["is_leader"].sum()
    counts["cut"] = (rows["cut_characters"] > 0).sum()
    return counts


_OF_A_PROMPT = {
    "grade": pl.Int64,
    "status": pl.String,
    "answer": pl.String,
    "response": pl.String,
    "error": pl.String,
    "expected_grade": pl.Float64,
    "scale_mass": pl.Float64,
    "prompt_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "completion_tokens": pl.Int64,
    "cut_characters": pl.Int64,
}
