"""Folders of those who trace RAG: LangSmith, Langfuse, Phoenix, OpenTelemetry, LlamaIndex.

The versions ask their index with a rewrite of what the user said, as many do: the question must be
the user's. Prompts that a model gets hold what was found, which is no part of the question either.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl

from tests.ingest.forms.rag_cases import VERSIONS, Case, as_csv, counted

_BEGAN = datetime(2026, 11, 20, 10, tzinfo=UTC)
_SYSTEM = "You help customers of a shop."


def _time(number: int, second: int) -> datetime:
    return _BEGAN + timedelta(minutes=number, seconds=second)


def _id(version: str, number: int, part: int, length: int = 32) -> str:
    return f"{version}{number:02}{part:02}".encode().hex().rjust(length, "0")


def _rewritten(case: Case) -> str:
    """What the index was asked with."""
    return f"shop {case.question.lower().rstrip('?')} policy"


def _prompt(case: Case) -> str:
    """What the model was asked with."""
    return "Use this:\n{}\n\nQuestion: {}".format("\n".join(case.contexts), case.question)


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))


# --- LangSmith: runs of a project, and the table of an experiment ------------------------------


def langsmith_runs(folder: Path) -> None:
    """`client.list_runs`, a run a line: children come before what called them."""
    for name, cases in VERSIONS.items():
        runs = [run for n, case in enumerate(cases) for run in _runs(name, n, case)]
        _write_lines(folder / f"{name}.jsonl", runs)


def _runs(name: str, number: int, case: Case) -> list[dict[str, Any]]:
    documents = [
        {"id": None, "metadata": {"source": "shop.md"}, "page_content": text, "type": "Document"}
        for text in case.contexts
    ]
    asked = [[{"lc": 1, "type": "constructor", "kwargs": {"content": _prompt(case)}}]]
    said = {"generations": [[{"text": case.answer, "type": "ChatGeneration"}]]}
    stated: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
        ("rag", "chain", {"question": case.question}, {"answer": case.answer}),
        ("Retriever", "retriever", {"query": _rewritten(case)}, {"documents": documents}),
        ("ChatOpenAI", "llm", {"messages": asked}, said),
    ]
    runs = [
        {
            "id": _id(name, number, part),
            "name": run_name,
            "run_type": kind,
            "inputs": inputs,
            "outputs": outputs,
            "start_time": _time(number, part).isoformat(),
            "end_time": _time(number, part + 5).isoformat(),
            "trace_id": _id(name, number, 0),
            "parent_run_id": _id(name, number, 0) if part else None,
            "dotted_order": f"20261120T1000{part:02}",
            "session_id": "9c1f",
            "error": None,
            "feedback_stats": {"correctness": {"n": 1, "avg": 1.0}},
            "tags": [],
        }
        for part, (run_name, kind, inputs, outputs) in enumerate(stated)
    ]
    return runs[::-1]


def langsmith_experiment(folder: Path) -> None:
    """`ExperimentResults.to_pandas().to_csv()`."""
    _experiment(folder, "reference.answer", "outputs.contexts")


def langsmith_download(folder: Path) -> None:
    """The same from its pages, where references are called otherwise."""
    _experiment(folder, "reference_outputs.answer", "outputs.documents")


def _experiment(folder: Path, reference: str, contexts: str) -> None:
    for name, cases in VERSIONS.items():
        rows = [
            {
                "inputs.question": case.question,
                "outputs.answer": case.answer,
                contexts: list(case.contexts),
                "error": "",
                reference: case.reference,
                "feedback.correctness": number % 2 == 0,
                "feedback.groundedness": 0.8,
                "execution_time": 1.25,
                "example_id": _id("ex", number, 0),
                "id": _id(name, number, 0),
            }
            for number, case in enumerate(cases)
        ]
        (folder / f"{name}.csv").write_text(as_csv(rows))


# --- Langfuse: traces with their observations and scores ---------------------------------------


def langfuse_json(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        traces = [_langfuse(name, number, case) for number, case in enumerate(cases)]
        (folder / f"{name}.json").write_text(json.dumps(traces, indent=1))


def langfuse_jsonl(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        traces = [_langfuse(name, number, case) for number, case in enumerate(cases)]
        _write_lines(folder / f"{name}.jsonl", traces)


def langfuse_observations(folder: Path) -> None:
    """The table of observations, in which the first step of a trace is one of them."""
    for name, cases in VERSIONS.items():
        rows = []
        for number, case in enumerate(cases):
            trace = _langfuse(name, number, case)
            kept = ("id", "name", "input", "output", "metadata")
            root = {key: trace[key] for key in kept} | {
                "traceId": trace["id"],
                "type": "SPAN",
                "startTime": trace["timestamp"],
                "parentObservationId": None,
            }
            inner = [each | {"parentObservationId": trace["id"]} for each in trace["observations"]]
            rows += [*inner, root]
        _write_lines(folder / f"{name}.jsonl", rows)


def _langfuse(name: str, number: int, case: Case) -> dict[str, Any]:
    trace = _id(name, number, 0)
    messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _prompt(case)}]
    found = [{"page_content": text, "metadata": {"source": "shop.md"}} for text in case.contexts]
    stated: list[tuple[str, str, Any, Any]] = [
        ("RETRIEVER", "search", _rewritten(case), found),
        ("GENERATION", "answer", messages, {"role": "assistant", "content": case.answer}),
    ]
    observations = [
        {
            "id": _id(name, number, part),
            "traceId": trace,
            "type": kind,
            "name": own_name,
            "startTime": _time(number, part).isoformat(),
            "endTime": _time(number, part + 5).isoformat(),
            "input": given,
            "output": put_out,
            "metadata": {},
            "parentObservationId": None,
            "level": "DEFAULT",
        }
        for part, (kind, own_name, given, put_out) in enumerate(stated, start=1)
    ]
    score = {
        "id": _id("sc", number, 0),
        "traceId": trace,
        "name": "helpfulness",
        "value": 0.5 + number / 20,
        "dataType": "NUMERIC",
        "source": "EVAL" if number % 2 else "ANNOTATION",
        "comment": "It helps.",
    }
    return {
        "id": trace,
        "timestamp": _time(number, 0).isoformat(),
        "name": "chat",
        "input": {"question": case.question},
        "output": case.answer,
        "sessionId": None,
        "release": name,
        "version": None,
        "userId": None,
        "metadata": {},
        "tags": [],
        "public": False,
        "htmlPath": f"/project/shop/traces/{trace}",
        "latency": 1.2,
        "totalCost": 0.0001,
        "observations": observations[::-1],
        "scores": [score],
    }


# --- Phoenix: spans by OpenInference's conventions ---------------------------------------------


def phoenix_parquet(folder: Path) -> None:
    """`client.spans.get_spans_dataframe().to_parquet()`: what a span lacks is empty."""
    for name, cases in VERSIONS.items():
        spans = [span for n, case in enumerate(cases) for span in _openinference(name, n, case)]
        columns = dict.fromkeys(key for span in spans for key in span)
        rows = [{column: span.get(column) for column in columns} for span in spans]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        frame.write_parquet(folder / f"{name}.parquet")


def phoenix_jsonl(folder: Path) -> None:
    """Spans as its REST API has them, a span a line: attributes in one object, names with dots."""
    for name, cases in VERSIONS.items():
        spans = [
            {
                **{key: value for key, value in span.items() if "." not in key},
                "context": {
                    "trace_id": span["context.trace_id"],
                    "span_id": span["context.span_id"],
                },
                "attributes": {
                    key.removeprefix("attributes."): value
                    for key, value in span.items()
                    if key.startswith("attributes.")
                },
            }
            for n, case in enumerate(cases)
            for span in _openinference(name, n, case)
        ]
        _write_lines(folder / f"{name}.jsonl", spans)


def _openinference(name: str, number: int, case: Case) -> list[dict[str, Any]]:
    documents = [
        {"document.content": text, "document.score": 1 / rank, "document.id": f"{rank}"}
        for rank, text in enumerate(case.contexts, start=1)
    ]
    messages = [
        {"message.role": "system", "message.content": _SYSTEM},
        {"message.role": "user", "message.content": _prompt(case)},
    ]
    said = [{"message.role": "assistant", "message.content": case.answer}]
    stated: list[tuple[str, str, dict[str, Any]]] = [
        ("query", "CHAIN", {"input.value": case.question, "output.value": case.answer}),
        ("retrieve", "RETRIEVER", {"input.value": _rewritten(case)}),
        ("llm", "LLM", {"input.value": json.dumps({"messages": messages})}),
    ]
    stated[1][2]["retrieval.documents"] = documents
    stated[2][2].update({"llm.input_messages": messages, "llm.output_messages": said})
    return [
        {
            "name": span_name,
            "span_kind": kind,
            "parent_id": _id(name, number, 0, 16) if part else None,
            "start_time": _time(number, part).isoformat(),
            "end_time": _time(number, part + 5).isoformat(),
            "status_code": "OK",
            "status_message": "",
            "context.span_id": _id(name, number, part, 16),
            "context.trace_id": _id(name, number, 0),
            **{f"attributes.{key}": value for key, value in attributes.items()},
            "attributes.openinference.span.kind": kind,
        }
        for part, (span_name, kind, attributes) in enumerate(stated)
    ]


# --- OpenTelemetry: lines of OTLP JSON, with content on spans or on their events -----------------


def otlp_spans(folder: Path) -> None:
    """By the GenAI conventions, on spans: an agent that calls a retriever and a model."""
    for name, cases in VERSIONS.items():
        lines = [_otlp(name, n, case, on_events=False) for n, case in enumerate(cases)]
        _write_lines(folder / f"{name}.jsonl", lines)


def otlp_events(folder: Path) -> None:
    """The same, with messages in events of the model's span."""
    for name, cases in VERSIONS.items():
        lines = [_otlp(name, n, case, on_events=True) for n, case in enumerate(cases)]
        _write_lines(folder / f"{name}.jsonl", lines)


def sdk_spans(folder: Path) -> None:
    """What an SDK's exporter to a console prints, a span a line; messages are JSON in texts."""
    for name, cases in VERSIONS.items():
        spans = [
            {
                "name": span["name"],
                "context": {
                    "trace_id": f"0x{span['traceId']}",
                    "span_id": f"0x{span['spanId']}",
                    "trace_state": "[]",
                },
                "kind": "SpanKind.INTERNAL",
                "parent_id": f"0x{span['parentSpanId']}" if span["parentSpanId"] else None,
                "start_time": _time(n, part).isoformat().replace("+00:00", ".000000Z"),
                "end_time": _time(n, part + 5).isoformat().replace("+00:00", ".000000Z"),
                "status": {"status_code": "UNSET"},
                "attributes": {
                    each["key"]: each["value"]["stringValue"] for each in span["attributes"]
                },
                "events": [],
                "links": [],
                "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
            }
            for n, case in enumerate(cases)
            for part, span in enumerate(_spans(name, n, case, on_events=False))
        ]
        _write_lines(folder / f"{name}.jsonl", spans[::-1])


def _says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _otlp(name: str, number: int, case: Case, on_events: bool) -> dict[str, Any]:
    spans = _spans(name, number, case, on_events)
    resource = {"attributes": _attributes({"service.name": "shop"})}
    scope = {"scope": {"name": "opentelemetry.instrumentation.openai"}, "spans": spans[::-1]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def _spans(name: str, number: int, case: Case, on_events: bool) -> list[dict[str, Any]]:
    documents = [{"id": f"{n}", "content": text} for n, text in enumerate(case.contexts, 1)]
    asked = json.dumps([_says("user", case.question)])
    said = json.dumps([_says("assistant", case.answer) | {"finish_reason": "stop"}])
    content = {"gen_ai.input.messages": asked, "gen_ai.output.messages": said}
    prompt = {**content, "gen_ai.input.messages": json.dumps([_says("user", _prompt(case))])}
    found = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": _rewritten(case),
        "gen_ai.retrieval.documents": json.dumps(documents),
    }
    stated = [
        ("invoke_agent shop", {"gen_ai.operation.name": "invoke_agent"}, content),
        ("retrieval index", found, {}),
        ("chat gpt-4.1-mini", {"gen_ai.operation.name": "chat"}, prompt),
    ]
    spans = []
    for part, (span_name, attributes, messages) in enumerate(stated):
        nanoseconds = str(int(_time(number, part).timestamp() * 1e9))
        event = {
            "timeUnixNano": nanoseconds,
            "name": "gen_ai.client.inference.operation.details",
            "attributes": _attributes(messages),
        }
        spans.append(
            {
                "traceId": _id(name, number, 0),
                "spanId": _id(name, number, part, 16),
                "parentSpanId": _id(name, number, 0, 16) if part else "",
                "name": span_name,
                "kind": 1,
                "startTimeUnixNano": nanoseconds,
                "endTimeUnixNano": nanoseconds,
                "attributes": _attributes(attributes if on_events else attributes | messages),
                "events": [event] if on_events and messages else [],
                "status": {},
            }
        )
    return spans


def _attributes(stated: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in stated.items()]


# --- LlamaIndex: responses with the nodes that they came from -----------------------------------


def llamaindex(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        rows = [
            {
                "query": case.question,
                "response": case.answer,
                "source_nodes": [
                    {
                        "node": {
                            "id_": _id("node", n, 0),
                            "embedding": None,
                            "metadata": {"file_name": "shop.md"},
                            "excluded_embed_metadata_keys": [],
                            "relationships": {},
                            "text": text,
                            "mimetype": "text/plain",
                            "class_name": "TextNode",
                        },
                        "score": 1 / n,
                        "class_name": "NodeWithScore",
                    }
                    for n, text in enumerate(case.contexts, start=1)
                ],
                "metadata": {},
            }
            for case in cases
        ]
        (folder / f"{name}.json").write_text(json.dumps(rows))


FOLDERS = {
    "langsmith runs": counted(langsmith_runs, references=0),
    "langsmith experiment": counted(langsmith_experiment),
    "langsmith download": counted(langsmith_download),
    "langfuse json": counted(langfuse_json, references=0),
    "langfuse jsonl": counted(langfuse_jsonl, references=0),
    "langfuse observations": counted(langfuse_observations, references=0),
    "phoenix parquet": counted(phoenix_parquet, references=0),
    "phoenix jsonl": counted(phoenix_jsonl, references=0),
    "otlp spans": counted(otlp_spans, references=0),
    "otlp events": counted(otlp_events, references=0),
    "sdk spans": counted(sdk_spans, references=0),
    "llamaindex": counted(llamaindex, references=0),
}
