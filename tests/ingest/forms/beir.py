"""BEIR and MTEB: JSON lines of queries and a corpus, qrels per split, rankings as dictionaries."""

from pathlib import Path

from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import (
    ASKED,
    JUDGED,
    N_JUDGED,
    RANKED,
    SOLD,
    json_lines,
    judged,
    lines,
    parquet,
    ranked,
)
from tests.projects import write

_DEV = ("107", "108")  # queries of the other split


def results(system: str) -> dict[str, dict[str, float]]:
    """A ranking as most libraries hold one: {query: {passage: score}}."""
    found: dict[str, dict[str, float]] = {}
    for query, passage, _, score in ranked(system):
        found.setdefault(query, {})[passage] = score
    return found


def _texts(folder: Path) -> None:
    corpus = [{"_id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "corpus.jsonl", corpus)
    write(folder / "queries.jsonl", [{"_id": own, "text": text} for own, text in ASKED.items()])


def _qrels(path: Path, dev: bool) -> None:
    rows = [f"{query}\t{doc}\t{grade}" for query, doc, grade in judged() if (query in _DEV) == dev]
    lines(path, ["query-id\tcorpus-id\tscore", *rows])


def _beir(folder: Path) -> None:
    _texts(folder)
    _qrels(folder / "qrels" / "test.tsv", dev=False)
    _qrels(folder / "qrels" / "dev.tsv", dev=True)
    for system in RANKED:
        write(folder / "results" / f"{system}.json", results(system))


def _with_metadata(folder: Path) -> None:
    corpus = [
        {"_id": own, "title": title, "text": text, "metadata": {"url": f"https://shop.test/{own}"}}
        for own, (title, text) in SOLD.items()
    ]
    write(folder / "corpus.jsonl", corpus)
    queries = [{"_id": own, "text": text, "metadata": {}} for own, text in ASKED.items()]
    write(folder / "queries.jsonl", queries)
    rows = [f"{query}\t{doc}\t{grade}" for query, doc, grade in judged()]
    lines(folder / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *rows])
    for system in RANKED:
        rows = [f"{query} Q0 {doc} {rank} {s} beir" for query, doc, rank, s in ranked(system)]
        lines(folder / f"{system}.run.trec", rows)


def _mteb(folder: Path) -> None:
    _texts(folder)
    rows = [{"query-id": query, "corpus-id": doc, "score": g} for query, doc, g in judged()]
    json_lines(folder / "qrels" / "test.jsonl", rows)
    for system in RANKED:
        predictions = {
            "mteb_model_meta": {"model_name": f"shop/{system}-v2", "revision": "1.0"},
            "default": {"test": results(system)},
        }
        write(folder / system / "ShopRetrieval_predictions.json", predictions)


def _hub(folder: Path) -> None:
    corpus = [{"_id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    parquet(folder / "corpus" / "corpus-00000-of-00001.parquet", corpus)
    queries = [{"_id": own, "title": "", "text": text} for own, text in ASKED.items()]
    parquet(folder / "queries" / "queries-00000-of-00001.parquet", queries)
    rows = [{"query-id": query, "corpus-id": doc, "score": g} for query, doc, g in judged()]
    parquet(folder / "data" / "test-00000-of-00001.parquet", rows)
    for system in RANKED:
        write(folder / f"{system}.json", results(system))


_N_DEV = sum(len(JUDGED[query]) for query in _DEV)
_TEXTS = {"corpus.jsonl": PASSAGES, "queries.jsonl": QUERIES}
FOLDERS = (
    Folder(
        "beir",
        _beir,
        {**_TEXTS, "qrels/test.tsv": JUDGMENTS, "results/*.json": RUNS},
        rows={"judgments": N_JUDGED - _N_DEV},
    ),
    Folder(
        "beir-trec",
        _with_metadata,
        {**_TEXTS, "qrels/test.tsv": JUDGMENTS, "*.run.trec": RUNS},
        systems=("strong.run", "weak.run"),
    ),
    Folder(
        "mteb",
        _mteb,
        {**_TEXTS, "qrels/test.jsonl": JUDGMENTS, "*/ShopRetrieval_predictions.json": RUNS},
        systems=("strong-ShopRetrieval_predictions", "weak-ShopRetrieval_predictions"),
    ),
    Folder(
        "beir-hub",
        _hub,
        {
            "corpus/*.parquet": PASSAGES,
            "queries/*.parquet": QUERIES,
            "data/*.parquet": JUDGMENTS,
            "*.json": RUNS,
        },
    ),
)
