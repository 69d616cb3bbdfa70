"""Traces of many tools, and what in them is the question, the contexts and the answer."""

import json

import pytest

from gradelake.ingest.mapping.form import File
from gradelake.ingest.rag import traces
from gradelake.ingest.rag.log import read
from gradelake.sql.common.problems import Problems
from tests.projects import write

WHY, REWRITTEN, AIR = "Why is it blue?", "sky colour cause", "Air scatters blue light."
PROMPT = f"Use this: {AIR}\n{WHY}"


def rows(*spans: dict) -> list[dict]:
    """Rows of traces in OpenTelemetry's form, with names as readers of tables give them."""
    lower = [{key.lower(): value for key, value in span.items()} for span in spans]
    assert all(map(traces.is_trace, lower))
    problems = Problems("t.jsonl", "")
    found = [row for _, row in traces.rows(enumerate(lower, start=1), problems)]
    problems.raise_if_any()
    return found


def span(number: int, attributes: dict, parent: int | None = None, events=()) -> dict:
    return {
        "context": {"trace_id": "t", "span_id": f"s{number}"},
        "parent_id": None if parent is None else f"s{parent}",
        "start_time": f"2026-11-20T10:00:0{number}",
        "attributes": attributes,
        "events": [{"name": name, "attributes": held} for name, held in events],
    }


def by_event(role: str, text: str) -> tuple[str, dict]:
    return f"gen_ai.{role}.message", {"gen_ai.event.content": json.dumps({"content": text})}


FOUND = {"gen_ai.retrieval.query.text": REWRITTEN, "gen_ai.retrieval.documents": [{"content": AIR}]}
CHAT = [{"role": "user", "content": WHY}]
MODELS = {
    "messages of OpenInference": (
        {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": WHY,
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.content": "Air.",
        },
        (),
    ),
    "numbered prompts": (
        {
            "gen_ai.prompt.0.role": "system",
            "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user",
            "gen_ai.prompt.1.content": WHY,
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.content": "Air.",
        },
        (),
    ),
    "an event each": (
        {},
        [
            by_event("system", "Be brief."),
            by_event("user", WHY),
            ("gen_ai.choice", {"message": json.dumps({"role": "assistant", "content": "Air."})}),
        ],
    ),
    "events of prompt and completion": (
        {},
        [
            ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(CHAT)}),
            ("gen_ai.content.completion", {"gen_ai.completion": "Air."}),
        ],
    ),
    "values": ({"input.value": json.dumps({"messages": CHAT}), "output.value": "Air."}, ()),
    "values of a chain": (
        {
            "input.value": json.dumps({"input": WHY, "chat_history": []}),
            "output.value": json.dumps({"answer": "Air.", "context": [AIR]}),
        },
        (),
    ),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("is_flat", [False, True])
def test_what_was_said_is_found_wherever_it_stands(name, is_flat):
    attributes, events = MODELS[name]
    root = span(1, attributes, events=events)
    (row,) = rows(span(2, FOUND, parent=None if is_flat else 1), root)
    assert row["contexts"] == [{"content": AIR}]
    assert row["answer"] == "Air."
    assert row["question"] == [{"role": "user", "content": WHY}]


def test_the_question_is_what_the_user_said():
    whole = {"input.value": WHY, "output.value": "Air."}
    model = {"input.value": PROMPT, "output.value": "It is air."}
    (row,) = rows(span(1, whole), span(2, FOUND, parent=1), span(3, model, parent=1))
    assert row["question"] == [{"role": "user", "content": WHY}]
    assert row["answer"] == "Air."
    same = FOUND | {"gen_ai.retrieval.query.text": WHY}
    (row,) = rows(span(2, same), span(3, model))  # the prompt was made around it
    assert row["question"] == WHY
    (row,) = rows(span(2, FOUND), span(3, model))  # a rewrite is no question
    assert row["question"] == [{"role": "user", "content": PROMPT}]


def test_runs_within_runs_and_in_texts_are_steps(tmp_path):
    search = {"id": "2", "trace_id": "1", "parent_run_id": "1", "run_type": "retriever"}
    search |= {"inputs": {"query": REWRITTEN}, "outputs": {"documents": [{"page_content": AIR}]}}
    whole = {"id": "1", "trace_id": "1", "run_type": "chain", "parent_run_id": None}
    whole |= {"inputs": json.dumps({"question": WHY}), "outputs": json.dumps({"answer": "Air."})}
    file = write(tmp_path / "runs.jsonl", json.dumps(whole | {"child_runs": [search]}))
    (row,), _ = read(file, str(file))
    assert (row.question, row.answer, [each.text for each in row.contexts]) == (WHY, "Air.", [AIR])
    beside = {"answer": "Air.", "context": [{"page_content": AIR, "metadata": {}}]}
    file = write(tmp_path / "root.jsonl", json.dumps(whole | {"outputs": beside}))
    (row,), _ = read(file, str(file))
    assert (row.answer, [each.text for each in row.contexts]) == ("Air.", [AIR])


def test_spans_in_a_csv_have_lists_as_python_writes_them(tmp_path):
    spans = [
        {
            "context.trace_id": "t",
            "context.span_id": f"s{number}",
            "parent_id": parent,
            "start_time": f"2026-11-20 10:00:0{number}",
            "span_kind": kind,
            "attributes.input.value": given,
            "attributes.output.value": put_out,
            "attributes.retrieval.documents": documents,
        }
        for number, parent, kind, given, put_out, documents in (
            (1, "", "CHAIN", WHY, "Air.", ""),
            (2, "s1", "RETRIEVER", REWRITTEN, "", str([{"document.content": "It's air."}])),
        )
    ]
    file = write(tmp_path / "spans.csv", spans)
    (row,), _ = read(file, str(file))
    assert (row.question, row.answer) == (WHY, "Air.")
    assert [each.text for each in row.contexts] == ["It's air."]


def test_a_list_of_traces_may_stand_within_another_object(tmp_path):
    trace = {"id": "1", "input": {"question": WHY}, "output": "Air.", "observations": ["o1"]}
    file = write(tmp_path / "t.json", json.dumps({"data": [trace], "meta": {}}, indent=1))
    (row,), _ = read(file, File(str(file), {"rows": "data[]"}))
    assert (row.question, row.answer, row.contexts) == (WHY, "Air.", [])


def test_an_agents_searches_are_its_contexts_in_their_order():
    second = FOUND | {"gen_ai.retrieval.documents": json.dumps(["Oceans.", AIR])}
    (row,) = rows(
        span(1, {"input.value": WHY, "output.value": "Air."}),
        span(3, second, parent=1),
        span(2, FOUND, parent=1),
    )
    assert row["contexts"] == [{"content": AIR}, "Oceans.", AIR]
