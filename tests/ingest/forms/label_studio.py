"""Label Studio's exports: JSON with annotations in tasks, JSON-MIN, CSV."""

from pathlib import Path
from typing import Any

from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, N_JUDGED, SOLD, judged, result_tables
from tests.projects import write

_CHOICES = {"Highly relevant": 3, "Relevant": 2, "Partly relevant": 1, "Not relevant": 0}
_CHOICE = {grade: choice for choice, grade in _CHOICES.items()}
_TIME = "2026-03-05T12:00:00.000000Z"


def _data(query: str, passage: str) -> dict[str, str]:
    return {"query": ASKED[query], "doc_id": passage, "passage": SOLD[passage][1]}


def _annotation(number: int, by: Any, grade: int) -> dict[str, Any]:
    result = {
        "id": f"r{number}",
        "from_name": "relevance",
        "to_name": "passage",
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [_CHOICE[grade]]},
    }
    return {
        "id": number,
        "completed_by": by,
        "result": [result],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": _TIME,
        "lead_time": 4.2,
        "task": number,
    }


def _json(folder: Path) -> None:
    """Two annotators of each second task, who are named by their numbers."""
    tasks = []
    for number, (query, passage, grade) in enumerate(judged(), start=1):
        annotations = [_annotation(number, 1, grade)]
        if number % 2:
            annotations.append(_annotation(1000 + number, 2, min(grade + 1, 3)))
        tasks.append(
            {
                "id": 5000 + number,
                "annotations": annotations,
                "drafts": [],
                "predictions": [],
                "data": _data(query, passage),
                "meta": {},
                "created_at": _TIME,
                "project": 3,
                "total_annotations": len(annotations),
            }
        )
    write(folder / "project-3-at-2026-03-05.json", tasks)
    result_tables(folder)
    _products(folder)


def _min(folder: Path) -> None:
    """Stars, which JSON-MIN has in a list."""
    rows = [
        {
            "id": 5000 + number,
            **_data(query, passage),
            "relevance": [{"rating": grade + 1}],
            "annotator": 1,
            "annotation_id": number,
            "created_at": _TIME,
            "updated_at": _TIME,
            "lead_time": 4.2,
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]
    write(folder / "project-3-min.json", rows)
    result_tables(folder)
    _products(folder)


def _csv(folder: Path) -> None:
    rows = [
        {
            "annotation_id": number,
            "annotator": "ann@shop.test",
            "created_at": _TIME,
            **_data(query, passage),
            "id": 5000 + number,
            "lead_time": 4.2,
            "relevance": _CHOICE[grade],
            "updated_at": _TIME,
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]
    write(folder / "project-3.csv", rows)
    result_tables(folder)
    _products(folder)


def _products(folder: Path) -> None:
    rows = [{"doc_id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "products.csv", rows)


_BESIDE = {"products.csv": PASSAGES, "strong.csv": (QUERIES, RUNS), "weak.csv": (QUERIES, RUNS)}
FOLDERS = (
    Folder(
        "label-studio",
        _json,
        {**_BESIDE, "project-3-at-2026-03-05.json": JUDGMENTS},
        rows={"judgments": N_JUDGED + N_JUDGED // 2},
        assessors=("1", "2"),
        labels=_CHOICES,
        ids=False,
    ),
    Folder(
        "label-studio-min",
        _min,
        {**_BESIDE, "project-3-min.json": JUDGMENTS},
        assessors=("1",),
        ids=False,
    ),
    Folder(
        "label-studio-csv",
        _csv,
        {**_BESIDE, "project-3.csv": JUDGMENTS},
        assessors=("ann@shop.test",),
        labels=_CHOICES,
        ids=False,
    ),
)
