"""Reads the workbench's graded JSONL into rows, a line at a time."""

import json
import sys
from collections.abc import Callable
from typing import Any

from gradelake.grading.exchange.beside_rows import of_paragraph
from gradelake.grading.exchange.file_import import FileImport
from gradelake.grading.exchange.workbench import RATING_MAX, sha256
from gradelake.grading.exchange.workbench_entry import Entries
from gradelake.grading.exchange.workbench_format import PARAGRAPH, TEXT, Fault, checked
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems

_SHAPE = "not [query_id, [paragraph, ...]]"
_SCALE_AT_LEAST = {"question": RATING_MAX, "nugget": RATING_MAX, "direct": 1, "extract": 1}


def read_graded(into: FileImport, problems: Problems, progress: Callable[..., Any]) -> None:
    """Everything a graded file holds about the collection's queries.

    What its judgments and rankings hold beside their rows is brought along where they are chosen.
    """
    reader = _Reader(into)
    # a query's line may be long
    for first, block in files.blocks(into.path, into.shown, sys.maxsize, progress):
        for number, line in files.numbered_lines(block, first):
            try:
                reader.line(files.parse_json(line))
            except Fault as fault:
                problems.add(number, str(fault))
            except json.JSONDecodeError as error:
                problems.add(number, f"not JSON: {error.msg} at column {error.colno}")
            except ValueError as error:
                problems.add(number, f"not JSON: {error}")
    into.scale_at_least = {
        i: _SCALE_AT_LEAST[grader["target"]]
        for i, grader in into.graders.items()
        if i not in reader.entries.restored
    }


class _Reader:
    """Reads lines into rows."""

    def __init__(self, into: FileImport):
        self.into, self.counts, self.entries = into, into.seen, Entries(into)

    def line(self, line: Any) -> None:
        """Read one query's line. Raises `Fault` saying what is wrong with it."""
        match line:
            case [given, [*paragraphs]]:
                query_id = self._query_id(given)
            case _:
                raise Fault(_SHAPE)
        if not self.into.has_query(query_id):
            return
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
                "titleQuery": self.into.queries[query_id],
            },
            self.into.choices.assessor,
            self.into.choices.systems,
        )
        if beside:
            content = json.dumps(beside, ensure_ascii=False)
            self.into.put("brought_along", *pair, content)
