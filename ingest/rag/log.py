"""Rows of a RAG log, under the names that ragas, DeepEval, TruLens and datasets of HF give them."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradelake.ingest.rag import traces
from gradelake.ingest.tables.form import PLAIN
from gradelake.ingest.tables.reading import rows_of
from gradelake.sql.common import files
from gradelake.sql.common.problems import Problems

# the first that is there counts. DeepEval's `context` is what should have been found, no ranking
QUESTION = ("question", "user_input", "input", "query")
ANSWER = ("answer", "response", "actual_output", "output")
CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context")
REFERENCE = ("reference", "ground_truth", "ground_truths", "expected_output")
QUERY_ID = ("query_id", "qid", "question_id")
_CONTEXT_TEXT = ("text", "content", "page_content")
_CONTEXT_ID = ("id", "passage_id", "doc_id", "document_id")
FIX = (
    f"A row has a question ({', '.join(QUESTION)}), an answer ({', '.join(ANSWER)}), contexts "
    f"({', '.join(CONTEXTS)}) and perhaps a reference ({', '.join(REFERENCE)}). Fix these rows and "
    "import again; nothing of the file was taken."
)


class Context(NamedTuple):
    """A retrieved text, or only the id of one."""

    own_id: str
    text: str


@dataclass(frozen=True)
class Row:
    """One question. `answer` is None where the log has none at all; a list of sentences says what
    each of them cites."""

    line: int
    query_id: str
    question: str
    answer: str | list[dict[str, Any]] | None
    contexts: list[Context]
    references: list[str]


def read(path: Path, shown: str) -> tuple[list[Row], list[str]]:
    """The rows of a log, and the names of the columns that were read.

    Raises `Rejected` for a file that cannot be read, with all rows that are at fault.
    """
    problems = Problems(shown, FIX)
    objects = [*rows_of(path, shown, PLAIN, problems, as_written=True)]
    if objects and traces.is_trace(objects[0][1]):
        objects = [*traces.rows(objects, problems)]
    used: dict[str, None] = {}
    rows = []
    for line, cells in objects:
        try:
            rows.append(_row(line, cells, used))
        except ValueError as error:
            problems.add(line, str(error))
    problems.raise_if_any()
    return rows, list(used)


def _row(line: int, cells: dict[str, Any], used: dict[str, None]) -> Row:
    """Raises `ValueError` with what is wrong in it."""
    question = _text(_cell(cells, QUESTION, used), "the question")
    if not question:
        raise ValueError(f"no question: {' or '.join(QUESTION)}")
    answer = _cell(cells, ANSWER, used)
    if not isinstance(answer, list):
        has_answers = any(name in cells for name in ANSWER)
        answer = _text(answer, "the answer") if has_answers else None
    elif not all(isinstance(part, dict) for part in answer):
        raise ValueError("the answer is neither a text nor a list of sentences with citations")
    contexts = _list(_cell(cells, CONTEXTS, used), "contexts")
    references = _list(_cell(cells, REFERENCE, used), "the reference")
    return Row(
        line,
        _text(_cell(cells, QUERY_ID, used), "the query's id"),
        question,
        answer,
        [_context(each, number) for number, each in enumerate(contexts, start=1)],
        [text for each in references if (text := _text(each, "a reference"))],
    )


def _cell(cells: dict[str, Any], names: Iterable[str], used: dict[str, None]) -> Any:
    """The first of these columns that holds something, or those of a name with a number each."""
    for name in names:
        if (value := cells.get(name)) is not None and value == value:  # pandas writes NaN
            used[name] = None
            return value
        pattern = re.compile(rf"{name}[_.]?(\d+)")
        numbered = {int(found[1]): each for each in cells if (found := pattern.fullmatch(each))}
        if values := [cells[numbered[n]] for n in sorted(numbered)]:
            used[f"{name}_N"] = None
            return [value if value == value else None for value in values]
    return None


def _list(value: Any, what: str) -> list[Any]:
    """A list, also as JSON or Python write it into a cell; a text alone is a list of one."""
    if isinstance(value, str) and value.strip()[:1] == "[":
        for parse in (files.parse_json, ast.literal_eval):
            try:
                value = parse(value.strip())
                break
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
        if not isinstance(value, list):
            raise ValueError(f"{what}: begins with [ and is no list that can be read")
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _context(value: Any, number: int) -> Context:
    what = f"context {number}"
    if not isinstance(value, dict):
        return Context("", _text(value, what))
    own_id, text = (
        next((_text(value[name], what) for name in names if value.get(name) is not None), "")
        for names in (_CONTEXT_ID, _CONTEXT_TEXT)
    )
    if not own_id and not text:
        raise ValueError(f"{what} has neither a text ({', '.join(_CONTEXT_TEXT)}) nor an id")
    return Context(own_id, text)


def _text(value: Any, what: str) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"{what} is no text, but a {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{what} holds a null character, which no text may")
    return value.strip()
