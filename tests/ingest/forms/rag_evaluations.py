"""Folders of those who evaluate RAG: ragas, DeepEval, promptfoo, MLflow, and people's own logs."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from tests.ingest.forms.rag_cases import V1, V2, VERSIONS, Case, N, as_csv, counted


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _score(number: int) -> float:
    """A score that a judge might have given to the answer of this number."""
    return round(0.5 + 0.07 * number, 4)


# --- ragas: EvaluationDataset.to_jsonl, to_csv; EvaluationResult.to_pandas ---------------------


def _sample(case: Case) -> dict[str, Any]:
    return {
        "user_input": case.question,
        "retrieved_contexts": list(case.contexts),
        "response": case.answer,
        "reference": case.reference,
    }


def ragas_dataset(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        (folder / f"{name}.jsonl").write_text(_lines([*map(_sample, cases)]))


def ragas_result(folder: Path) -> None:
    """The table of a result: a column a metric, empty where the judge failed."""
    for name, cases in VERSIONS.items():
        rows = [
            _sample(case)
            | {
                "faithfulness": _score(number) if number else "",
                "answer_relevancy": _score(number),
                "llm_context_precision_with_reference": 0.9999999999,
            }
            for number, case in enumerate(cases)
        ]
        (folder / f"{name}.csv").write_text(as_csv(rows))


def ragas_conversations(folder: Path) -> None:
    """Samples of several turns: the answer is the last message, and no context is kept."""
    for name, cases in VERSIONS.items():
        rows = [
            {
                "user_input": [
                    _human(case.before[0]),
                    _ai(case.before[1]),
                    _human(case.question),
                    _ai(case.answer),
                ],
                "reference": case.reference,
            }
            for case in cases
        ]
        (folder / f"{name}.jsonl").write_text(_lines(rows))


def _human(text: str) -> dict[str, Any]:
    return {"content": text, "metadata": None, "type": "human"}


def _ai(text: str) -> dict[str, Any]:
    return {"content": text, "metadata": None, "type": "ai", "tool_calls": None}


# --- DeepEval: EvaluationDataset.save_as, TestRun.save ----------------------------------------


def _golden(case: Case) -> dict[str, Any]:
    return {
        "input": case.question,
        "actual_output": case.answer,
        "expected_output": case.reference,
        "retrieval_context": list(case.contexts),
        "context": ["What it was made from, which no system found."],
        "name": None,
        "comments": None,
        "source_file": "shop.md",
    }


def deepeval_dataset(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        text = json.dumps([*map(_golden, cases)], indent=4, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text)


def deepeval_csv(folder: Path) -> None:
    """Bars between contexts: they cannot hold any of their own."""
    for name, cases in VERSIONS.items():
        rows = [
            _golden(case)
            | {
                "retrieval_context": "|".join(each.replace("|", "/") for each in case.contexts),
                "context": "What it was made from, which no system found.",
            }
            for case in cases
        ]
        (folder / f"{name}.csv").write_text(as_csv(rows))


def deepeval_test_run(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        tested = [
            _tested(number)
            | {
                "input": case.question,
                "actualOutput": case.answer,
                "expectedOutput": case.reference,
                "retrievalContext": list(case.contexts),
            }
            for number, case in enumerate(cases)
        ]
        (folder / f"{name}.json").write_text(json.dumps(_run(tested, [])))


def deepeval_conversations(folder: Path) -> None:
    """A test run of conversations: what was found stands at the last turn."""
    for name, cases in VERSIONS.items():
        tested = [
            _tested(number)
            | {
                "scenario": "Somebody asks a shop.",
                "expectedOutcome": "They know.",
                "turns": [
                    {"role": "user", "content": case.before[0], "order": 0},
                    {"role": "assistant", "content": case.before[1], "order": 1},
                    {"role": "user", "content": case.question, "order": 2},
                    {
                        "role": "assistant",
                        "content": case.answer,
                        "order": 3,
                        "retrievalContext": list(case.contexts),
                    },
                ],
            }
            for number, case in enumerate(cases)
        ]
        (folder / f"{name}.json").write_text(json.dumps(_run([], tested)))


def _tested(number: int) -> dict[str, Any]:
    metrics = [
        {
            "name": metric,
            "threshold": 0.5,
            "success": True,
            "score": _score(number),
            "reason": "It says what the context says.",
            "strictMode": False,
            "evaluationModel": "gpt-4.1",
            "evaluationCost": 0.0012,
            "verboseLogs": "Statements: []",
        }
        for metric in ("Faithfulness", "Answer Relevancy")
    ]
    return {
        "name": f"test_case_{number}",
        "success": True,
        "metricsData": metrics,
        "runDuration": 1.25,
        "order": number,
    }


def _run(tested: list[dict[str, Any]], conversations: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "testFile": "test_shop.py",
        "testCases": tested,
        "conversationalTestCases": conversations,
        "metricsScores": [{"metric": "Faithfulness", "scores": [1.0], "passes": 1}],
        "identifier": None,
        "hyperparameters": {"model": "gpt-4.1-mini"},
        "testPassed": N,
        "testFailed": 0,
        "runDuration": 9.5,
        "evaluationCost": 0.02,
    }


# --- promptfoo eval --output results.json -----------------------------------------------------


def promptfoo_results(folder: Path) -> None:
    """Two providers in one file; what was retrieved is a variable, the same for both."""
    results = _results()
    prompts = [
        {"raw": _PROMPT, "label": _PROMPT, "id": "5f2c", "provider": each, "metrics": {}}
        for each in _PROVIDERS
    ]
    stats = {"successes": len(results), "failures": 0, "errors": 0, "tokenUsage": {}}
    inner = {
        "version": 3,
        "timestamp": "2026-11-20T10:00:00.000Z",
        "prompts": prompts,
        "results": results,
        "stats": stats,
    }
    whole = {
        "evalId": "eval-AbC-2026-11-20T10:00:00",
        "results": inner,
        "config": {"description": "The shop", "providers": [*_PROVIDERS]},
        "shareableUrl": None,
        "metadata": {"promptfooVersion": "0.120.0"},
    }
    (folder / "results.json").write_text(json.dumps(whole, indent=2))


def promptfoo_lines(folder: Path) -> None:
    """The same with --output results.jsonl."""
    (folder / "results.jsonl").write_text(_lines(_results()))


_PROMPT = "Answer from this: {{context}}\n\n{{question}}"
_PROVIDERS = {"openai:chat:gpt-4.1-mini": V1, "file://rag.py:answer": V2}


def _results() -> list[dict[str, Any]]:
    return [
        _result(provider, index, number, case)
        for number in range(N)
        for index, (provider, cases) in enumerate(_PROVIDERS.items())
        for case in cases[number : number + 1]
    ]


def _result(provider: str, index: int, number: int, case: Case) -> dict[str, Any]:
    said = {"question": case.question, "context": list(V1[number].contexts)}
    rubric = {"type": "llm-rubric", "value": "says how"}
    passed = {"pass": True, "score": _score(number), "reason": "It does", "assertion": rubric}
    return {
        "cost": 0.0001,
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "namedScores": {},
            "componentResults": [passed],
        },
        "id": f"{number}-{index}",
        "latencyMs": 812,
        "namedScores": {},
        "prompt": {"raw": _PROMPT, "label": _PROMPT},
        "promptId": "5f2c",
        "promptIdx": index,
        "provider": {"id": provider, "label": ""},
        "response": {"output": case.answer, "tokenUsage": {"total": 90}, "cached": False},
        "score": 1,
        "success": True,
        "testCase": {"vars": said, "assert": [rubric], "options": {}, "metadata": {}},
        "testIdx": number,
        "vars": said,
        "metadata": {},
        "failureReason": 0,
    }


# --- MLflow: the table of mlflow.evaluate, as an artifact and as people keep it -----------------


def _evaluated(number: int, case: Case) -> dict[str, Any]:
    return {
        "inputs": case.question,
        "ground_truth": case.reference,
        "outputs": case.answer,
        "retrieved_context": list(case.contexts),
        "latency": 0.8,
        "token_count": 12,
        "answer_correctness/v1/score": 3 + number % 3,
        "answer_correctness/v1/justification": "It says most of it.",
        "faithfulness/v1/score": 5,
        "faithfulness/v1/justification": "It says nothing else.",
    }


def mlflow_artifact(folder: Path) -> None:
    """`eval_results_table.json`: names of columns, and rows without them."""
    for name, cases in VERSIONS.items():
        rows = [_evaluated(number, case) for number, case in enumerate(cases)]
        table = {"columns": [*rows[0]], "data": [[*row.values()] for row in rows]}
        (folder / name).mkdir()
        (folder / name / "eval_results_table.json").write_text(json.dumps(table))


def mlflow_parquet(folder: Path) -> None:
    for name, cases in VERSIONS.items():
        rows = [_evaluated(number, case) for number, case in enumerate(cases)]
        pl.DataFrame(rows).write_parquet(folder / f"{name}.parquet")


# --- what people write themselves -------------------------------------------------------------


def own_chunks(folder: Path) -> None:
    """A sheet with a column a chunk; where fewer were found, the last ones are empty."""
    for name, cases in VERSIONS.items():
        rows = [
            {
                "Question": case.question,
                "Answer": case.answer,
                **{f"Chunk {n}": text for n, text in enumerate([*case.contexts, "", ""][:4], 1)},
                "Expected answer": case.reference,
            }
            for case in cases
        ]
        (folder / f"{name}.csv").write_text(as_csv(rows))


def own_numbered(folder: Path) -> None:
    """The same in JSON lines, where what was not found is not there."""
    for name, cases in VERSIONS.items():
        rows = [
            {
                "id": number,
                "question": case.question,
                "answer": case.answer,
                **{f"chunk_{n}": text for n, text in enumerate(case.contexts, start=1)},
                "expected_answer": case.reference,
            }
            for number, case in enumerate(cases, start=1)
        ]
        (folder / f"{name}.jsonl").write_text(_lines(rows))


def own_answers(folder: Path) -> None:
    """Answers, of which nobody kept what was retrieved."""
    for name, cases in VERSIONS.items():
        rows = [
            {"question": case.question, "answer": case.answer, "expected_answer": case.reference}
            for case in cases
        ]
        (folder / f"{name}.jsonl").write_text(_lines(rows))


def own_context(folder: Path) -> None:
    """What was found is called a context, and is one text where one was found."""
    for name, cases in VERSIONS.items():
        rows = [
            {"question": case.question, "answer": case.answer, "context": case.contexts[0]}
            for case in cases
        ]
        (folder / f"{name}.csv").write_text(as_csv(rows))


def own_judge(folder: Path) -> None:
    """Answers, and what a judge of one's own thought of them, in a sheet that is no log."""
    own_answers(folder)
    rows = [
        {
            "question": case.question,
            "answer": case.answer,
            "score": 1 + number % 5,
            "reason": "It says how.",
            "model": "gpt-4.1",
        }
        for cases in VERSIONS.values()
        for number, case in enumerate(cases)
    ]
    (folder / "judge.csv").write_text(as_csv(rows))


def own_systems(folder: Path) -> None:
    """One sheet, with a column that says which version answered."""
    rows = [
        {
            "system": name,
            "question": case.question,
            "answer": case.answer,
            "contexts": json.dumps(case.contexts),
            "ground_truth": case.reference,
        }
        for name, cases in VERSIONS.items()
        for case in cases
    ]
    (folder / "answers.csv").write_text(as_csv(rows))


def own_messages(folder: Path) -> None:
    """Conversations as chat programs keep them, and what was found for the last turn."""
    for name, cases in VERSIONS.items():
        rows = [
            {
                "messages": [
                    {"role": "system", "content": "You help customers of a shop."},
                    {"role": "user", "content": case.before[0]},
                    {"role": "assistant", "content": case.before[1]},
                    {"role": "user", "content": [{"type": "text", "text": case.question}]},
                ],
                "response": case.answer,
                "contexts": list(case.contexts),
            }
            for case in cases
        ]
        (folder / f"{name}.jsonl").write_text(_lines(rows))


_OF_PROMPTFOO = ("openai-chat-gpt-4.1-mini", "file-rag.py-answer")
FOLDERS = {
    "ragas dataset": counted(ragas_dataset),
    "ragas result": counted(ragas_result),
    "ragas conversations": counted(ragas_conversations, contexts=0, histories=N),
    "deepeval dataset": counted(deepeval_dataset),
    "deepeval csv": counted(deepeval_csv),
    "deepeval test run": counted(deepeval_test_run),
    "deepeval conversations": counted(deepeval_conversations, references=0, histories=N),
    "promptfoo": counted(
        promptfoo_results, _OF_PROMPTFOO, contexts=4 * N, references=0, commands=1
    ),
    "promptfoo lines": counted(
        promptfoo_lines, _OF_PROMPTFOO, contexts=4 * N, references=0, commands=1
    ),
    "mlflow artifact": counted(mlflow_artifact, ("v1-eval_results_table", "v2-eval_results_table")),
    "mlflow parquet": counted(mlflow_parquet),
    "own chunks": counted(own_chunks),
    "own numbered": counted(own_numbered),
    "own answers": counted(own_answers, contexts=0),
    "own context": counted(own_context, contexts=2 * N, references=0),
    "own judge": counted(own_judge, contexts=0, not_used=("judge.csv",)),
    "own systems": counted(own_systems, commands=1),
    "own messages": counted(own_messages, references=0, histories=N),
}
