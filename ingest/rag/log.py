"""Rows of a RAG log."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gradelake.ingest.mapping.columns import columns_of, mapped, meant
from gradelake.ingest.mapping.form import ROLES, settings_of
from gradelake.ingest.mapping.scores import LARGEST, named_scores
from gradelake.ingest.rag import traces
from gradelake.ingest.rag.spans import answer_in, asked_in
from gradelake.ingest.rag.turns import Turns, is_conversation, last_said, turns_of
from gradelake.ingest.reading.rows import rows_of
from gradelake.sql.common.problems import Problems

_CONTEXT_TEXT = ("text", "content", "page_content", "chunk", "passage", "snippet", "body")
_HOLD_CONTEXT = ("document", "node", "passage", "chunk")  # objects within which one may stand
_CONTEXT_ID = ("id", "passage_id", "doc_id", "document_id")
_NAMES = {role: ", ".join(usual) for role, usual in ROLES["rag"].items()}
ALL_COLUMNS = "*"  # of scores: those of which all numbers are shares
_GREAT = 1e300  # scores are less, and NaN is not
_NAME_LENGTH = 100  # of a system; a longer text in a column `system` is a prompt
FIX = (
    f"A row has a question ({_NAMES['question']}), an answer ({_NAMES['answer']}), contexts "
    f"({_NAMES['contexts']}) and perhaps a reference ({_NAMES['reference']}). Fix these rows and "
    "import again; nothing of the file was taken."
)


class Context(NamedTuple):
    """A retrieved text, or only the id of one."""

    own_id: str
    text: str


class Retrieval(NamedTuple):
    """A search for a question: what was searched for, what it found, best first, and the score that
    it gave each."""

    searched: str
    contexts: list[Context]
    scores: list[float | None]


@dataclass(frozen=True)
class Row:
    """One question. `answer` is None where the log has none at all; a list of sentences says what
    each of them cites. `before`: who said what before, in a conversation; `system`: as the log
    calls it, which most do not; `scores`: what its metrics say, by their names; `retrievals`: where
    the log says them one by one."""

    line: int
    query_id: str
    question: str
    answer: str | list[dict[str, Any]] | None
    contexts: list[Context]
    references: list[str]
    before: tuple[tuple[str, str], ...] = ()
    system: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    retrievals: list[Retrieval] = field(default_factory=list)

    @property
    def retrieved(self) -> list[Context]:
        """Its contexts, and those of each retrieval."""
        return [*self.contexts, *_found_by(self.retrievals)]


def read(path: Path, shown: str) -> tuple[list[Row], list[str]]:
    """The rows of a log, and the names of the columns that were read.

    Raises `Rejected` for a file that cannot be read, with all rows that are at fault.
    """
    problems = Problems(shown, FIX)
    objects = [*rows_of(path, shown, problems)]
    rows_meant = [*meant(objects, shown)]
    if rows_meant and traces.is_trace(rows_meant[0][1]):
        objects = rows_meant = [*traces.rows(rows_meant, problems)]
        shown = str(shown)  # of which nothing more is to be said
    used = (
        column
        for _, row in rows_meant
        for role, column in columns_of("rag", shown, row).items()
        if role != "scores"
    )
    found, rows = [*mapped("rag", path, shown, objects, problems)], []
    stated = [row.get("scores") for _, row in found]
    metrics = _metrics(stated, 1 if settings_of(shown).get("scores") == ALL_COLUMNS else LARGEST)
    names_systems = all(_may_be_name(row.get("system")) for _, row in found)
    for (line, row), scores in zip(found, metrics, strict=True):
        try:
            named = row if names_systems else row | {"system": ""}
            rows.append(_row(line, named | {"scores": scores}))
        except ValueError as error:
            problems.add(line, str(error))
    problems.raise_if_any()
    return rows, list(dict.fromkeys(used))


def _metrics(stated: list[Any], largest: float) -> list[dict[str, float]]:
    """The scores of each row: those that are numbers up to `largest` wherever they are there."""
    named = [*map(named_scores, stated)]
    texts = {
        name
        for scores in named
        for name, score in scores.items()
        if not isinstance(score, float) or abs(score) > largest
    }
    return [{name: scores[name] for name in scores.keys() - texts} for scores in named]


def _may_be_name(value: Any) -> bool:
    """Whether a cell may be what a system is called: a short text on one line, or nothing."""
    return value is None or (
        isinstance(value, str) and len(value) <= _NAME_LENGTH and "\n" not in value
    )


def _row(line: int, row: dict[str, Any]) -> Row:
    """Raises `ValueError` with what is wrong in it."""
    turns = _turns(row)
    if not turns.question:
        raise ValueError(f"no question: {_NAMES['question'].replace(', ', ' or ')}")
    answer = row.get("answer", turns.answer)
    if is_conversation(answer):
        answer = last_said(answer)
    elif _is_object(answer):
        answer = answer_in(answer)
    if not isinstance(answer, list):
        answer = None if answer is None and "answer" not in row else _text(answer, "the answer")
    elif not all(isinstance(part, dict) for part in answer):
        raise ValueError("the answer is neither a text nor a list of sentences with citations")
    contexts, references = _contexts(row.get("contexts")), _list(row.get("reference"))
    retrievals = [_retrieval(each, n) for n, each in enumerate(_list(row.get("retrievals")), 1)]
    return Row(
        line,
        _text(row.get("query"), "the query's id"),
        turns.question,
        answer,
        contexts or _found_by(retrievals),
        [text for each in references if (text := _text(each, "a reference"))],
        turns.before,
        _text(row.get("system"), "the system"),
        row["scores"],
        retrievals,
    )


def _turns(row: dict[str, Any]) -> Turns:
    """What was asked, and what was said before. Raises `ValueError`."""
    asked = row.get("question")
    asked = asked_in(asked) or asked if _is_object(asked) else asked
    if is_conversation(asked):
        turns = turns_of(asked)
        texts = (turns.question, *(text for _, text in turns.before))
        for text in texts:
            _text(text, "the question")
        return turns
    return Turns(_text(asked, "the question"))


def _is_object(value: Any) -> bool:
    """Whether a cell is an object, or a text that may hold one in JSON."""
    return isinstance(value, dict) or (isinstance(value, str) and value[:1] == "{")


def _list(value: Any) -> list[Any]:
    """A list; a text alone is a list of one."""
    return value if isinstance(value, list) else [] if value in (None, "") else [value]


def _retrieval(value: Any, number: int) -> Retrieval:
    """A search, as an object. Raises `ValueError`."""
    held = value if isinstance(value, dict) else {}
    found = next((held[name] for name in ROLES["rag"]["contexts"] if name in held), None)
    if found is None:
        raise ValueError(f"retrieval {number} is no object with a query and contexts")
    searched = _text(held.get("query"), f"the query of retrieval {number}")
    return Retrieval(searched, _contexts(found), [*map(_score, _list(found))])


def _found_by(retrievals: list[Retrieval]) -> list[Context]:
    return [context for each in retrievals for context in each.contexts]


def _score(value: Any) -> float | None:
    """The score that a context came with; None where there is no such number."""
    stated = value.get("score") if isinstance(value, dict) else None
    if not isinstance(stated, int | float) or isinstance(stated, bool):
        return None
    return float(stated) if abs(stated) < _GREAT else None


def _contexts(value: Any) -> list[Context]:
    return [_context(each, number) for number, each in enumerate(_list(value), start=1)]


def _context(value: Any, number: int) -> Context:
    what = f"context {number}"
    if not isinstance(value, dict):
        return Context("", _text(value, what))
    inner = (value[name] for name in _HOLD_CONTEXT if isinstance(value.get(name), dict))
    value = next(inner, value)
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
