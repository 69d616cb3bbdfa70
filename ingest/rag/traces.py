"""Traces: each one is a question, what was retrieved, and an answer.

The question is what the user said, never what a model was asked with or an index searched with: it
is what the trace's first step was given. Where no step holds the others, the first message of a
user counts; but a prompt that was made around what an index was asked with is none of the user's.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from gradelake.ingest.rag.spans import Span, is_trace, spans_of
from gradelake.ingest.rag.turns import spoken, turns_of
from gradelake.sql.common.problems import Problems

__all__ = ["is_trace", "rows"]


def rows(
    objects: Iterable[tuple[int, dict[str, Any]]], problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, row of a log) of each trace that asks a model; other traces have none."""
    traces: dict[str, list[Span]] = {}
    for line, row in objects:
        try:
            for span in spans_of(line, row):
                traces.setdefault(span.trace, []).append(span)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            problems.add(line, f"not a span that can be read: {error!r}")
    found, has_answers = [], False
    for spans in traces.values():
        if not any(span.asked or span.answer or span.query or span.documents for span in spans):
            continue
        spans.sort(key=lambda span: (span.start, span.line))
        row = _row(spans)
        has_answers = has_answers or bool(row["answer"])
        found.append((min(span.line for span in spans), row))
    if not has_answers:
        problems.add(None, "no trace has an answer: content was not captured")
    yield from sorted(found, key=lambda each: each[0])


def _row(spans: list[Span]) -> dict[str, Any]:
    """The row of a trace, whose spans are in the order of time."""
    ids = {span.own_id for span in spans}
    roots = [span for span in spans if span.parent not in ids or span.parent == span.own_id]
    root = roots[0] if len(roots) == 1 else None
    answers = [span.answer for span in spans if span.answer]  # a call that failed put nothing out
    answer = root.answer if root and root.answer else answers[-1] if answers else ""
    contexts = [document for span in spans for document in span.documents or ()]
    contexts = contexts or (root.beside if root and root.beside else [])
    scores = next((span.scores for span in spans if span.scores), None)
    row = {
        "question": _question(spans, root),
        "answer": answer,
        "contexts": contexts,
        "scores": scores,
    }
    retrievals = _retrievals(spans)
    return row | {"retrievals": retrievals} if retrievals else row


def _retrievals(spans: list[Span]) -> list[dict[str, Any]]:
    """Each search, in the order of time. Those within another, which made several of a query or put
    what they found in order, are a part of it, and count where it does not say what it found."""
    by_id = {span.own_id: span for span in spans if span.own_id}
    parts: dict[int, list[Span]] = {}
    for span in spans:
        if span.documents is not None:
            whole = _whole(span, by_id)
            parts.setdefault(id(whole), [whole]).append(span)
    return [
        {
            "query": next((span.query for span in searches if span.query), ""),
            "contexts": searches[0].documents
            or [document for span in searches for document in span.documents or ()],
        }
        for searches in parts.values()
    ]


def _whole(span: Span, by_id: dict[str, Span]) -> Span:
    """The outermost of the searches within which a search was made, or itself."""
    whole, above, passed = span, span.parent, {span.own_id}
    while above in by_id and above not in passed:
        passed.add(above)
        if by_id[above].documents is not None:
            whole = by_id[above]
        above = by_id[above].parent
    return whole


def _question(spans: list[Span], root: Span | None) -> str | list[Any]:
    """A text, or the messages of which it is the user's last."""
    if root and turns_of(root.asked).question:
        return _messages(root)
    queries = [span.query for span in spans if span.query]
    asked = next((span for span in spans if turns_of(span.asked).question), None)
    if not asked:
        return queries[0] if queries else ""
    prompt = " ".join(turns_of(asked.asked).question.split())
    within = (query for query in queries if " ".join(query.split()) in prompt)
    return next(within, None) or _messages(asked)


def _messages(span: Span) -> list[dict[str, str]]:
    return [{"role": who, "content": text} for who, text in spoken(span.asked)]
