"""Folders of logs as APIs, programs' output and tables of tools have them: wrapped, printed, nested
or turned on their side."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.ingest.forms.rag_cases import VERSIONS, Case, Folder, N, as_csv, counted

_Row = Callable[[Case], dict[str, Any]]


def _dumped(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{_dumped(row)}\n" for row in rows)


def _folder(
    row: _Row, ending: str, text: Callable[[list[dict[str, Any]]], str], **others: Any
) -> Folder:
    """Both versions, a file each: what is a row of each case, and how rows are written."""

    def write(folder: Path) -> None:
        for name, cases in VERSIONS.items():
            (folder / f"{name}{ending}").write_text(text([row(case) for case in cases]))

    return counted(write, **others)


def _documents(case: Case, name: str = "content") -> list[dict[str, Any]]:
    return [{name: text, "score": 0.5} for text in case.contexts]


# --- lists within an object, columns by themselves, objects below each other ------------------


def _own(case: Case) -> dict[str, Any]:
    return {"question": {"text": case.question}, "answer": {"text": case.answer}} | {
        "contexts": [{"passage": {"id": text[:9], "text": text}} for text in case.contexts]
    }


def _queried(case: Case) -> dict[str, Any]:
    return {"query": case.question, "generated_answer": case.answer} | {
        "retrieved_docs": _documents(case),
        "gold_answer": case.reference,
    }


def _sample(case: Case) -> dict[str, Any]:
    return {"user_input": case.question, "retrieved_contexts": [*case.contexts]} | {
        "response": case.answer,
        "reference": case.reference,
    }


def _by_columns(rows: list[dict[str, Any]]) -> str:
    """As pandas' `to_json` writes a frame that is told nothing."""
    return _dumped({key: {str(n): row[key] for n, row in enumerate(rows)} for key in rows[0]})


def _printed(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{_dumped(row, 4)}\n" for row in rows)


def _span(case: Case) -> dict[str, Any]:
    """A span as the exporter to the console prints it, with attributes within attributes."""
    return {
        "name": "answer",
        "context": {"trace_id": case.question, "span_id": "0x01"},
        "parent_id": None,
        "start_time": "2026-11-01T10:00:00Z",
        "attributes": {
            "input": {"value": case.question},
            "output": {"value": case.answer},
            "openinference": {"span": {"kind": "CHAIN"}},
        },
        "events": [],
    }


def _shared(case: Case) -> dict[str, Any]:
    said = (*case.before, case.question, case.answer)
    speakers = ("human", "gpt") * 2
    turns = [{"from": who, "value": text} for who, text in zip(speakers, said, strict=True)]
    return {"conversations": turns}


# --- tables of tools ---------------------------------------------------------------------------


def _langfuse(case: Case) -> dict[str, Any]:
    return {"id": case.question[:12], "timestamp": "2026-11-01", "name": "rag"} | {
        "input": _dumped({"question": case.question}),
        "output": _dumped({"answer": case.answer, "contexts": case.contexts}),
        "sessionId": "",
    }


def _langfuse_trace(case: Case) -> dict[str, Any]:
    found = {"id": "o1", "type": "RETRIEVER", "input": {"query": "x"}, "output": _documents(case)}
    return {"id": case.question, "timestamp": "2026-11-01", "observations": [found]} | {
        "input": {"question": case.question},
        "output": {"answer": case.answer},
    }


def _observations(rows: list[dict[str, Any]]) -> str:
    """As they are put into a bucket: names with bars, and JSON in texts."""
    return _lines(
        [
            {
                "id": f"{row['trace_id']}-{kind}",
                "trace_id": row["trace_id"],
                "type": kind,
                "parent_observation_id": None if kind == "SPAN" else f"{row['trace_id']}-SPAN",
                "start_time": f"2026-11-01 00:00:0{n}",
                "input": _dumped(given),
                "output": _dumped(put_out),
            }
            for row in rows
            for n, (kind, given, put_out) in enumerate(row["steps"])
        ]
    )


def _observed(case: Case) -> dict[str, Any]:
    answered = ("SPAN", {"question": case.question}, {"answer": case.answer})
    return {"trace_id": case.question[:20]} | {
        "steps": [answered, ("RETRIEVER", {"query": "rewritten"}, _documents(case, "page_content"))]
    }


def _langsmith(case: Case) -> dict[str, Any]:
    return {"id": 1, "inputs": _dumped({"question": case.question})} | {
        "outputs": _dumped({"answer": case.answer, "contexts": case.contexts}),
        "reference_outputs": _dumped({"answer": case.reference}),
        "correctness": 1,
    }


def _phoenix(case: Case) -> dict[str, Any]:
    return {"context.span_id": "0a", "input": case.question, "output": case.answer} | {
        "reference": "\n\n".join(case.contexts)
    }


def _expected(case: Case) -> dict[str, Any]:
    return {"input": case.question, "output": case.answer, "expected": case.reference} | {
        "metadata": {"contexts": [*case.contexts]},
        "scores": {"Factuality": 0.6},
    }


def _haystack(case: Case) -> dict[str, Any]:
    answer = {"data": case.answer, "query": case.question, "documents": _documents(case)}
    return {"retriever": {"documents": _documents(case)}, "answer_builder": {"answers": [answer]}}


def _haystack_report(case: Case) -> dict[str, Any]:
    return {"questions": case.question, "contexts": [*case.contexts]} | {
        "predicted_answers": case.answer,
        "ground_truth_answers": case.reference,
        "faithfulness": 0.5,
    }


def _mlflow_trace(case: Case) -> dict[str, Any]:
    return {"trace_id": "tr-1", "request": _dumped({"question": case.question})} | {
        "response": _dumped({"answer": case.answer}),
        "state": "OK",
    }


def _tested(case: Case) -> dict[str, Any]:
    return {"name": "t", "input": case.question, "actualOutput": case.answer} | {
        "expectedOutput": case.reference,
        "retrievalContext": [*case.contexts],
    }


def trulens(folder: Path) -> None:
    rows = [
        {"app_id": f"app_{name}", "app_version": name, "record_id": f"{name}{n}"}
        | {"input": case.question, "output": case.answer, "Groundedness": 1.0}
        for name, cases in VERSIONS.items()
        for n, case in enumerate(cases)
    ]
    (folder / "records.csv").write_text(as_csv(rows))


def promptfoo_labels(folder: Path) -> None:
    """Two providers that are one model, told apart by their labels."""
    rows = [
        {
            "vars": {"question": case.question, "context": "\n".join(case.contexts)},
            "response": {"output": case.answer},
            "provider": {"id": "openai:gpt", "label": name},
            "promptIdx": n,
        }
        for n, (name, cases) in enumerate(VERSIONS.items())
        for case in cases
    ]
    (folder / "results.json").write_text(_dumped({"results": {"version": 3, "results": rows}}))


_NONE = {"contexts": 0, "references": 0}
_TEST_RUN = {"conversationalTestCases": [], "metricsScores": []}
FOLDERS: dict[str, Folder] = {
    "a list in an object": _folder(
        _own, ".json", lambda rows: _dumped({"version": 2, "results": rows}, 1), references=0
    ),
    "queries, a page of an API": _folder(
        _queried, ".json", lambda rows: _dumped({"data": rows, "meta": {"page": 1}})
    ),
    "ragas, columns of pandas": _folder(_sample, ".json", _by_columns),
    "spans, printed": _folder(_span, ".json", _printed, **_NONE),
    "conversations, from and value": _folder(_shared, ".json", _dumped, **_NONE, histories=N),
    "Langfuse, a page of traces": _folder(
        _langfuse_trace,
        ".json",
        lambda rows: _dumped({"data": rows, "meta": {"page": 1, "limit": 50}}),
        references=0,
    ),
    "Langfuse, observations of a bucket": _folder(_observed, ".jsonl", _observations, references=0),
    "Langfuse, a table": _folder(_langfuse, ".csv", as_csv, references=0),
    "LangSmith, objects in cells": _folder(_langsmith, ".csv", as_csv),
    "Phoenix, answers": _folder(_phoenix, ".csv", as_csv, contexts=2 * N, references=0),
    "inputs, outputs, expected": _folder(_expected, ".jsonl", _lines),
    "Haystack": _folder(_haystack, ".jsonl", _lines, references=0),
    "Haystack, a report": _folder(_haystack_report, ".csv", as_csv),
    "MLflow, traces": _folder(_mlflow_trace, ".jsonl", _lines, **_NONE),
    "DeepEval, the latest test run": _folder(
        _tested, ".json", lambda rows: _dumped({"testRunData": {"testCases": rows, **_TEST_RUN}})
    ),
    "TruLens": counted(trulens, **_NONE, commands=1),
    "promptfoo, labels": counted(promptfoo_labels, contexts=2 * N, references=0, commands=1),
}
