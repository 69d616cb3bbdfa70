"""Argilla's records: as its library writes them, as its server answers, as a table."""

from pathlib import Path
from typing import Any

from tests.ingest.forms.folder import JUDGMENTS, LABELS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, N_JUDGED, SOLD, judged, parquet, result_tables
from tests.projects import write

_ANN, _BOB = "8f5a8a3e-0000-4000-8000-00000000000a", "8f5a8a3e-0000-4000-8000-00000000000b"
_AGENT = "prometheus-7b"


def _responses(number: int, grade: int) -> list[tuple[str, int]]:
    """(user, label); Bob answered every other record."""
    bob = [(_BOB, max(grade - 1, 0))] if number % 2 == 0 else []
    return [(_ANN, grade), *bob]


def _record(number: int, query: str, passage: str) -> dict[str, Any]:
    return {
        "id": f"record-{number}",
        "fields": {"query": ASKED[query], "passage": SOLD[passage][1]},
        "metadata": {"doc_id": passage},
        "vectors": {},
    }


def _library(folder: Path) -> None:
    records = [
        {
            **_record(number, query, passage),
            "suggestions": {"relevance": {"value": grade, "score": 0.9, "agent": _AGENT}},
            "responses": {
                "relevance": [
                    {"value": label, "user_id": user} for user, label in _responses(number, grade)
                ]
            },
            "status": "completed",
            "_server_id": f"00000000-0000-4000-8000-{number:012}",
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]
    write(folder / "records.json", records)
    _beside(folder)


def _server(folder: Path) -> None:
    items = [
        {
            **_record(number, query, passage),
            "external_id": None,
            "responses": [
                {
                    "id": f"{user}-{number}",
                    "values": {"relevance": {"value": label}},
                    "status": "submitted",
                    "user_id": user,
                }
                for user, label in _responses(number, grade)
            ],
            "suggestions": [
                {"question_name": "relevance", "value": grade, "type": "model", "agent": _AGENT}
            ],
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]
    write(folder / "records.json", {"items": items, "total": len(items)})
    _beside(folder)


def _flat(folder: Path) -> None:
    """A data set of them, as `to_datasets` makes it: lists that go together, in columns."""
    rows = [
        {
            "id": f"record-{number}",
            "status": "completed",
            "_server_id": f"00000000-0000-4000-8000-{number:012}",
            "query": ASKED[query],
            "passage": SOLD[passage][1],
            "doc_id": passage,
            "relevance.responses": [label for _, label in _responses(number, grade)],
            "relevance.responses.users": [user for user, _ in _responses(number, grade)],
            "relevance.responses.status": ["submitted" for _ in _responses(number, grade)],
            "relevance.suggestion": grade,
            "relevance.suggestion.score": 0.9,
            "relevance.suggestion.agent": _AGENT,
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]
    parquet(folder / "train-00000-of-00001.parquet", rows)
    _beside(folder)


def _beside(folder: Path) -> None:
    rows = [{"doc_id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "products.csv", rows)
    result_tables(folder)


_BESIDE = {"products.csv": PASSAGES, "strong.csv": (QUERIES, RUNS), "weak.csv": (QUERIES, RUNS)}
_ROWS = {"judgments": N_JUDGED + N_JUDGED // 2, "grades": N_JUDGED}
FOLDERS = tuple(
    Folder(
        name,
        fill,
        {**_BESIDE, file: (JUDGMENTS, LABELS)},
        rows=_ROWS,
        assessors=(_ANN, _BOB),
        judges=(_AGENT,),
        ids=False,
    )
    for name, fill, file in (
        ("argilla", _library, "records.json"),
        ("argilla-server", _server, "records.json"),
        ("argilla-flat", _flat, "train-00000-of-00001.parquet"),
    )
)
