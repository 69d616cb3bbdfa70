"""Reads the workbench's graded JSONL into rows, a line at a time."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gradelake.grading.exchange.beside_rows import of_paragraph
from gradelake.grading.exchange.choices import Choices
from gradelake.grading.exchange.workbench import (
    RATING_MAX,
    Found,
    Rows,
    reject_other_collection,
    sha256,
)
from gradelake.grading.exchange.workbench_entry import Entries
from gradelake.grading.exchange.workbench_format import PARAGRAPH, TEXT, Fault, checked
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems

HINT = "A line is [query_id, [paragraph, ...]]; fix these lines and import again."
_SHAPE = "not [query_id, [paragraph, ...]]"
_SCALE_AT_LEAST = {"question": RATING_MAX, "nugget": RATING_MAX, "direct": 1, "extract": 1}


def read_graded(
    path: Path,
    shown: str,
    queries: dict[str, str],
    choices: Choices,
    into: Rows,
    progress: Callable[..., Any],
) -> Found:
    """Everything a graded file holds about `queries` (id -> text); others are counted and left out.

    What its judgments and rankings hold beside their rows is brought along where they are chosen.
    Rows go into `into`, what is there twice, too. Raises `Rejected` naming every
    malformed line, and when none of the queries is known.
    """
    reader = _Reader(queries, choices, into)
    problems = Problems(shown, HINT)
    lines = files.blocks(path, shown, sys.maxsize, progress)  # a query's line may be long
    for first, block in lines:
        for number, line in files.numbered_lines(block, first):
            try:
                reader.line(files.parse_json(line))
            except Fault as fault:
                problems.add(number, str(fault))
            except json.JSONDecodeError as error:
                problems.add(number, f"not JSON: {error.msg} at column {error.colno}")
            except ValueError as error:
                problems.add(number, f"not JSON: {error}")
    problems.raise_if_any()
    if reader.unknown and not reader.n_queries:
        raise reject_other_collection(shown, reader.unknown)
    graders = reader.entries.graders
    return Found(
        graders,
        {
            i: _SCALE_AT_LEAST[grader["target"]]
            for i, grader in graders.items()
            if i not in reader.entries.restored
        },
        counts=dict(reader.counts),
        unknown_queries=reader.unknown,
    )


class _Reader:
    """Reads lines into rows."""

    def __init__(self, queries: dict[str, str], choices: Choices, into: Rows):
        self.queries, self.choices, self.into = queries, choices, into
        self.entries = Entries(choices, into)
        self.counts = self.entries.counts
        self.unknown: list[str] = []
        self.n_queries = 0

    def line(self, line: Any) -> None:
        """Read one query's line. Raises `Fault` saying what is wrong with it."""
        match line:
            case [given, [*paragraphs]]:
                query_id = self._query_id(given)
            case _:
                raise Fault(_SHAPE)
        if query_id not in self.queries:
            self.unknown.append(query_id)
            return
        self.n_queries += 1
        for number, paragraph in enumerate(paragraphs, start=1):
            try:
                self._paragraph(query_id, paragraph)
            except Fault as fault:
                raise Fault(f"paragraph {number}: {fault}") from None
            self.counts["paragraphs"] += 1

    def _query_id(self, value: Any) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            self.counts["query_ids_converted"] += 1
            return str(value)
        return checked(TEXT, value, "query_id")

    def _paragraph(self, query_id: str, raw: dict[str, Any]) -> None:
        paragraph = checked(PARAGRAPH, raw)
        passage_id, text = paragraph.paragraph_id, paragraph.text
        text_hash = sha256(text) if text.strip() else None
        if text_hash is None:
            self.counts["paragraphs_without_text"] += 1
        else:
            self.into.put("passages", passage_id, text, text_hash)
        data = paragraph.paragraph_data
        pair = query_id, passage_id
        for one in data.judgments:
            self.into.put("judgments", *pair, one.assessor, one.relevance)
        for place in data.rankings:
            self.into.put("rankings", place.method, *pair, place.rank, place.score)
        beside = of_paragraph(
            raw,
            self.entries.paragraph(query_id, text_hash, paragraph, raw),
            {
                "paragraphId": passage_id,
                **dict.fromkeys(("query", "queryId"), query_id),
                "titleQuery": self.queries[query_id],
            },
            self.choices.assessor,
            self.choices.systems,
        )
        if beside:
            content = json.dumps(beside, ensure_ascii=False)
            self.into.put("brought_along", *pair, content)
