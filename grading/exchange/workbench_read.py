"""Reads the workbench's graded JSONL into columns, a line at a time."""

import io
from collections import Counter
from collections.abc import Collection
from typing import Any

import polars as pl

from gradelake.grading.exchange.workbench import (
    GRADES,
    JUDGMENTS,
    PASSAGES,
    RANKINGS,
    RATING_MAX,
    Found,
    once,
    reject_other_collection,
    sha256,
    with_scales,
)
from gradelake.grading.exchange.workbench_entry import Entries
from gradelake.grading.exchange.workbench_values import Fault, finite, text_of, the, whole
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems
from gradelake.sql.lake.transaction import utc_now

HINT = "A line is [query_id, [paragraph, ...]]; fix these lines and import again."
_SCHEMAS: dict[str, dict[str, Any]] = {
    "passages": PASSAGES,
    "judgments": JUDGMENTS,
    "rankings": RANKINGS,
    "grades": GRADES,
}
_SCALE_AT_LEAST = {"question": RATING_MAX, "nugget": RATING_MAX, "direct": 1, "extract": 1}


def read_graded(
    data: bytes, shown: str, queries: Collection[str], raters: Collection[str], prefix: str | None
) -> Found:
    """Everything a graded file holds about `queries`; others are counted and left out.

    `raters` are `published` (the file's own ratings), `paper` (its replies read anew), or both.
    Of what is there twice the first is kept. Raises `Rejected` naming every malformed line, and
    when none of the queries is known.
    """
    reader = _Reader(set(queries), raters, prefix)
    problems = Problems(shown, HINT)
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.strip():
            try:
                reader.line(line)
            except Fault as fault:
                problems.add(number, str(fault))
    problems.raise_if_any()
    if reader.unknown and not reader.n_queries:
        raise reject_other_collection(shown, reader.unknown)
    return reader.found()


class _Reader:
    """Collects a file's rows; each line's become frames at once, so that little is held."""

    def __init__(self, queries: set[str], raters: Collection[str], prefix: str | None):
        self.queries = queries
        self.counts: Counter[str] = Counter()
        self.unknown: list[str] = []
        self.n_queries = 0
        self.entries = Entries(raters, prefix, self.counts, utc_now())
        self.text_hashes: dict[str, str] = {}  # passage_id -> hash of its first text
        self.frames: dict[str, list[pl.DataFrame]] = {what: [] for what in _SCHEMAS}

    def line(self, line: bytes) -> None:
        """Read one query's line. Raises `Fault` saying what is wrong with it."""
        try:
            value = files.parse_json(line.decode())
        except ValueError as error:
            raise Fault(f"not JSON: {error}") from None
        if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], list):
            raise Fault("not [query_id, [paragraph, ...]]")
        query_id = self._query_id(value[0])
        if query_id not in self.queries:
            self.unknown.append(query_id)
            return
        self.n_queries += 1
        rows: dict[str, list[tuple]] = {what: [] for what in _SCHEMAS}
        for number, paragraph in enumerate(value[1], start=1):
            try:
                self._paragraph(query_id, paragraph, rows)
            except Fault as fault:
                raise Fault(f"paragraph {number}: {fault}") from None
        for what, found in rows.items():
            if found:
                frame = pl.DataFrame(found, schema=_SCHEMAS[what], orient="row")
                self.frames[what].append(frame)
        self.frames["grades"] += self.entries.take()

    def _query_id(self, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            self.counts["query_ids_converted"] += 1
            return str(value)
        return text_of(value, "query_id")

    def _paragraph(self, query_id: str, paragraph: Any, rows: dict[str, list[tuple]]) -> None:
        paragraph = the(dict, paragraph, "paragraph")
        passage_id = text_of(paragraph.get("paragraph_id"), "paragraph_id")
        text = the(str, paragraph.get("text"), "text")
        text_hash = sha256(text) if text.strip() else None
        self.counts["paragraphs"] += 1
        if paragraph.get("paragraph"):
            self.counts["markup_left_out"] += 1
        if text_hash is None:
            self.counts["paragraphs_without_text"] += 1
        elif passage_id not in self.text_hashes:
            self.text_hashes[passage_id] = text_hash
            rows["passages"].append((passage_id, text, text_hash))
        elif self.text_hashes[passage_id] != text_hash:
            self.counts["other_text_in_file"] += 1
        data = the(dict, paragraph.get("paragraph_data") or {}, "paragraph_data")
        for judgment in the(list, data.get("judgments") or [], "judgments"):
            rows["judgments"].append((query_id, passage_id, *_judgment(judgment)))
        for ranking in the(list, data.get("rankings") or [], "rankings"):
            system, rank, score = _ranking(ranking)
            rows["rankings"].append((system, query_id, passage_id, rank, score))
        self.entries.paragraph(query_id, passage_id, text_hash, paragraph)

    def found(self) -> Found:
        """What was read, each key once."""
        grades = self._all("grades")
        key = ["grader_id", "query_id", "passage_id", "item_id", "passage_sha256"]
        kept = once(grades, key)
        self.counts["repeated_grades"] += grades.height - kept.height
        graders, restored = self.entries.graders, self.entries.restored
        made_here = {i: grader for i, grader in graders.items() if i not in restored}
        with_scales(made_here, kept, _SCALE_AT_LEAST)
        return Found(
            graders=graders,
            grades=kept,
            passages=self._all("passages"),
            judgments=once(self._all("judgments"), list(JUDGMENTS)),
            rankings=once(self._all("rankings"), ["system", "query_id", "passage_id"]),
            counts=dict(self.counts),
            unknown_queries=self.unknown,
        )

    def _all(self, what: str) -> pl.DataFrame:
        frames = self.frames.pop(what)
        return pl.concat(frames, how="diagonal") if frames else pl.DataFrame(schema=_SCHEMAS[what])


def _judgment(value: Any) -> tuple[str | None, int]:
    """(assessor, relevance). The workbench's own files name no assessor."""
    value = the(dict, value, "judgment")
    assessor = value.get("assessor")
    if assessor is not None:
        assessor = text_of(assessor, "judgment's assessor")
    return assessor, whole(value.get("relevance"), "judgment's relevance")


def _ranking(value: Any) -> tuple[str, int, float]:
    """(system, rank, score)."""
    value = the(dict, value, "ranking")
    score = finite(value.get("score"), "ranking's score", 3e38)  # a 32-bit float holds it
    method = text_of(value.get("method"), "ranking's method")
    return method, whole(value.get("rank"), "ranking's rank"), score
