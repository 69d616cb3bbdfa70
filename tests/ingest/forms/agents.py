"""Traces of an agent that searches several times for a question, as four tools write them."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.ingest.forms.rag_cases import ABROAD, GIFTS, HELMETS, LOCKS, RETURNS, SHIPPING


class Search(NamedTuple):
    """What an index was asked with, and what it found, best first."""

    query: str
    found: tuple[str, ...] = ()


# The user's question is none of the searches. The second is a rewrite that finds a passage again.
QUESTIONS = {
    "How long may I return a helmet?": (
        Search("return helmet", (HELMETS, LOCKS)),
        Search("time limit for returns of helmets", (RETURNS, HELMETS)),
        Search("restocking fee of a lock"),
    ),
    "Do you ship to Norway?": (
        Search("shipping Norway", (SHIPPING,)),
        Search("delivery abroad", (ABROAD, SHIPPING, GIFTS)),
        Search("delivery abroad", (ABROAD,)),
    ),
}
ANSWER = "Yes, ask us."


def _time(part: int) -> str:
    return f"2026-11-20T10:00:{part:02}.000000Z"


def _documents(search: Search) -> list[dict[str, Any]]:
    return [{"content": text, "score": 1 / rank} for rank, text in enumerate(search.found, 1)]


def _says(role: str, text: str) -> str:
    return json.dumps([{"role": role, "content": text}])


def opentelemetry(trace: str, question: str, searches: tuple[Search, ...]) -> list[dict[str, Any]]:
    """Spans by the GenAI conventions, as an SDK prints them."""
    said = {
        "gen_ai.input.messages": _says("user", question),
        "gen_ai.output.messages": _says("assistant", ANSWER),
    }
    steps: list[dict[str, Any]] = [said]
    for search in searches:
        found = {"gen_ai.retrieval.documents": json.dumps(_documents(search))}
        steps.append(
            {"gen_ai.retrieval.query.text": search.query, **(found if search.found else {})}
        )
    return [
        {
            "name": "step",
            "context": {"trace_id": trace, "span_id": f"{trace}-{part}"},
            "parent_id": f"{trace}-0" if part else None,
            "start_time": _time(part),
            "attributes": attributes,
        }
        for part, attributes in enumerate(steps)
    ]


def phoenix(trace: str, question: str, searches: tuple[Search, ...]) -> list[dict[str, Any]]:
    """Spans by OpenInference's conventions. Each search is made within another, and what it found
    is put in order by a third step, which are no searches more."""
    steps: list[tuple[str, int | None, dict[str, Any]]] = [
        ("AGENT", None, {"input.value": question, "output.value": ANSWER})
    ]
    for search in searches:
        documents = [{f"document.{key}": each[key] for key in each} for each in _documents(search)]
        found = {"retrieval.documents": documents} if documents else {}
        outer = len(steps)
        steps += [
            ("RETRIEVER", 0, {"input.value": search.query, **found}),
            ("CHAIN", outer, {}),
            ("RETRIEVER", outer + 1, {"input.value": search.query.upper(), **found}),
            ("RERANKER", 0, {"input.value": search.query}),
        ]
    return [
        {
            "context.trace_id": trace,
            "context.span_id": f"{trace}-{part}",
            "parent_id": None if parent is None else f"{trace}-{parent}",
            "span_kind": kind,
            "start_time": _time(part),
            "attributes.openinference.span.kind": kind,
            **{f"attributes.{key}": value for key, value in attributes.items()},
        }
        for part, (kind, parent, attributes) in enumerate(steps)
    ]


def langsmith(trace: str, question: str, searches: tuple[Search, ...]) -> list[dict[str, Any]]:
    """Runs; LangChain's documents have no scores."""
    steps: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("chain", {"question": question}, {"answer": ANSWER})
    ]
    for search in searches:
        documents = [{"page_content": text, "metadata": {}} for text in search.found]
        steps.append(("retriever", {"query": search.query}, {"documents": documents}))
    runs = [
        {
            "id": f"{trace}-{part}",
            "trace_id": trace,
            "parent_run_id": f"{trace}-0" if part else None,
            "run_type": kind,
            "start_time": _time(part),
            "inputs": given,
            "outputs": put_out,
        }
        for part, (kind, given, put_out) in enumerate(steps)
    ]
    return runs[::-1]


def langfuse(trace: str, question: str, searches: tuple[Search, ...]) -> list[dict[str, Any]]:
    """A trace with its observations; every other search was given an object."""
    observations = [
        {
            "id": f"{trace}-{part}",
            "type": "RETRIEVER",
            "startTime": _time(part),
            "input": {"query": search.query, "k": 3} if part % 2 else search.query,
            "output": _documents(search),
        }
        for part, search in enumerate(searches, start=1)
    ]
    return [
        {
            "id": trace,
            "timestamp": _time(0),
            "input": {"question": question},
            "output": ANSWER,
            "observations": observations[::-1],
        }
    ]


FORMS: tuple[Callable[[str, str, tuple[Search, ...]], list[dict[str, Any]]], ...] = (
    opentelemetry,
    phoenix,
    langsmith,
    langfuse,
)
