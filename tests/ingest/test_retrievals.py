"""Retrievals of a question one by one, from traces and from rows of a log."""

import json
from typing import Any

import pytest

from tests.ingest.conftest import Tiny
from tests.ingest.forms.agents import (
    ANSWER,
    FORMS,
    QUESTIONS,
    Search,
    langsmith,
    opentelemetry,
    phoenix,
)

FOUND = """
    select queries.text, call, searched, rank, passages.text, score
    from lake.raw.retrievals
    left join lake.raw.queries using (collection, query_id)
    left join lake.raw.passages using (collection, passage_id)
    where system = '{}' order by queries.text, call, rank
"""
RANKED = """
    select queries.text, list(passages.text order by rank) from lake.raw.run_entries
    left join lake.raw.queries using (collection, query_id)
    left join lake.raw.passages using (collection, passage_id)
    where system = '{}' group by all order by all
"""


@pytest.fixture
def shop(tiny) -> Tiny:
    """A collection without topics of its own."""
    tiny.settings = {}
    return tiny


def traces(form, questions=QUESTIONS) -> list[str]:
    """Lines of a file of traces, in no order."""
    steps = [
        step
        for number, (question, searches) in enumerate(questions.items())
        for step in form(f"trace{number}", question, searches)
    ]
    return [json.dumps(step) for step in steps]


def bring(shop: Tiny, content: Any, name: str = "agent.jsonl", code: int = 0) -> str:
    """Import a log, or the one that is there, as the command line does. Returns what it says."""
    if content is not None:
        shop.write(name, content)
    shop.close()
    done = shop.gradelake("import", "rag", shop.name, name, code=code)
    return " ".join((done.stdout + done.stderr).split())


def wanted(with_scores: bool = True, questions=QUESTIONS) -> list[tuple]:
    """The rows of `FOUND`."""
    return [
        (question, call, search.query, *found)
        for question, searches in sorted(questions.items())
        for call, search in enumerate(searches, start=1)
        for found in (
            [(n, text, 1 / n if with_scores else None) for n, text in enumerate(search.found, 1)]
            or [(None, None, None)]
        )
    ]


def together() -> list[tuple[str, list[str]]]:
    """The rows of `RANKED`: what was found, in the order of time, under the person's question."""
    return [
        (question, [*dict.fromkeys(text for search in searches for text in search.found)])
        for question, searches in sorted(QUESTIONS.items())
    ]


@pytest.mark.parametrize("form", FORMS)
def test_each_search_of_a_trace_is_a_ranking_under_the_question_of_the_person(shop, form):
    said = bring(shop, traces(form))
    assert "2 questions have several retrievals" in said
    assert shop.rows(FOUND.format("agent")) == wanted(with_scores=form is not langsmith)
    assert shop.rows(RANKED.format("agent")) == together()


def test_what_a_search_within_another_found_counts_where_that_does_not_say(shop):
    steps = [json.loads(line) for line in traces(phoenix)]
    for step in steps:
        if step["parent_id"] and step["parent_id"].endswith("-0"):
            step.pop("attributes.retrieval.documents", None)
    bring(shop, steps)
    assert shop.rows(FOUND.format("agent")) == wanted()


def test_the_same_file_changes_nothing_and_systems_are_replaced_renamed_and_removed(shop):
    bring(shop, traces(opentelemetry))
    fewer = {question: searches[:1] for question, searches in QUESTIONS.items()}
    bring(shop, traces(opentelemetry, fewer), "once.jsonl")
    before = shop.snapshot()
    assert "unchanged" in bring(shop, None)
    assert shop.snapshot() == before
    assert shop.rows(FOUND.format("agent")) == wanted()
    assert shop.rows(FOUND.format("once")) == wanted(questions=fewer)
    bring(shop, traces(opentelemetry, fewer))
    assert shop.rows(FOUND.format("agent")) == wanted(questions=fewer)
    shop.close()
    shop.gradelake("system", "rename", shop.name, "once", "first")
    shop.gradelake("system", "remove", shop.name, "agent")
    assert shop.rows(FOUND.format("first")) == wanted(questions=fewer)
    assert shop.rows("select distinct system from lake.raw.retrievals") == [("first",)]


@pytest.mark.parametrize("name", ["agent.jsonl", "agent.csv"])
def test_a_row_of_a_log_may_say_its_retrievals(shop, name):
    rows = [
        {
            "question": question,
            "answer": ANSWER,
            "retrievals": [
                {"query": search.query, "retrieved_contexts": [*search.found]}
                for search in searches
            ],
        }
        for question, searches in QUESTIONS.items()
    ]
    if name.endswith("csv"):
        rows = [row | {"retrievals": json.dumps(row["retrievals"])} for row in rows]
    assert "read question, answer, retrievals" in bring(shop, rows, name)
    assert shop.rows(FOUND.format("agent")) == wanted(with_scores=False)
    assert shop.rows(RANKED.format("agent")) == together()


def test_contexts_beside_retrievals_are_the_ranking(shop):
    nested = {"node": {"text": "Found."}, "score": 0.5}  # as LlamaIndex has it
    row = {
        "question": "What?",
        "answer": "That.",
        "contexts": ["Taken."],
        "retrievals": [{"contexts": ["Taken.", "Found.", " ", "Found."]}, {"contexts": [nested]}],
    }
    bring(shop, [row])
    assert shop.rows(RANKED.format("agent")) == [("What?", ["Taken."])]
    assert shop.rows(FOUND.format("agent")) == [
        ("What?", 1, None, 1, "Taken.", None),
        ("What?", 1, None, 2, "Found.", None),
        ("What?", 2, None, 1, "Found.", 0.5),
    ]


@pytest.mark.parametrize("stated", ["text", {"query": "a"}, {"contexts": [{"score": 1}]}, [[]]])
def test_what_is_no_retrieval_is_refused_with_its_row(shop, stated):
    before = shop.snapshot()
    rows = [{"question": "What?", "contexts": ["That."], "retrievals": [stated]}]
    assert "agent.jsonl:1: " in bring(shop, rows, code=2)
    assert shop.snapshot() == before


def test_where_no_search_says_what_it_found_nothing_is_known_of_any(shop):
    silent = {question: (Search("something"),) for question in QUESTIONS}
    bring(shop, traces(opentelemetry, silent))
    assert shop.rows("select count(*) from lake.raw.retrievals") == [(0,)]
