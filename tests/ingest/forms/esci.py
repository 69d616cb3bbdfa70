"""ESCI, Amazon's searches: judgments in letters or words, products beside them or apart."""

from pathlib import Path
from typing import Any

from tests.ingest.forms.folder import JUDGMENTS, NOTHING, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, SOLD, judged, parquet, trec_runs
from tests.projects import write

_LETTERS = {"E": 3, "S": 2, "C": 1, "I": 0}
_WORDS = {"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}


def _examples(labels: dict[str, int]) -> list[dict[str, Any]]:
    letter = {grade: label for label, grade in labels.items()}
    return [
        {
            "example_id": number,
            "query": ASKED[query],
            "query_id": int(query),
            "product_id": passage,
            "product_locale": "us",
            "esci_label": letter[grade],
            "small_version": int(number % 3 > 0),
            "large_version": 1,
            "split": "test" if number % 4 else "train",
        }
        for number, (query, passage, grade) in enumerate(judged())
    ]


def _product(passage: str) -> dict[str, Any]:
    title, text = SOLD[passage]
    return {
        "product_title": title,
        "product_description": text,
        "product_bullet_point": None,
        "product_brand": "Camper",
        "product_color": None if passage.endswith("1") else "green",
    }


def _esci(folder: Path) -> None:
    parquet(folder / "shopping_queries_dataset_examples.parquet", _examples(_LETTERS))
    products = [{"product_id": own, **_product(own), "product_locale": "us"} for own in SOLD]
    parquet(folder / "shopping_queries_dataset_products.parquet", products)
    sources = [{"query_id": int(query), "source": "behavioral"} for query in ASKED]
    write(folder / "shopping_queries_dataset_sources.csv", sources)
    trec_runs(folder)


def _joined(folder: Path) -> None:
    """As it is on the Hub: the product beside each judgment, labels as words."""
    rows = [{**row, **_product(row["product_id"])} for row in _examples(_WORDS)]
    parquet(folder / "test-00000-of-00001.parquet", rows)
    trec_runs(folder)


FOLDERS = (
    Folder(
        "esci",
        _esci,
        {
            "shopping_queries_dataset_examples.parquet": (QUERIES, JUDGMENTS),
            "shopping_queries_dataset_products.parquet": PASSAGES,
            "shopping_queries_dataset_sources.csv": NOTHING,
            "runs/*.run": RUNS,
        },
        labels=_LETTERS,
    ),
    Folder(
        "esci-hub",
        _joined,
        {"test-00000-of-00001.parquet": (QUERIES, PASSAGES, JUDGMENTS), "runs/*.run": RUNS},
        rows={"passages": len(judged())},
        labels=_WORDS,
    ),
)
