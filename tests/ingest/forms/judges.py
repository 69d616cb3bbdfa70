"""Judges that people run themselves: scores with reasons, of a model that a column names."""

from pathlib import Path

from tests.ingest.forms.folder import JUDGMENTS, LABELS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, JUDGED, N_JUDGED, SOLD, json_lines, judged, trec_runs
from tests.projects import write

_REASON = 'It names the product, and says "made for this".'


def _beside(folder: Path) -> None:
    write(folder / "topics.tsv", ASKED)
    write(folder / "people.qrels", JUDGED)
    rows = [{"id": own, "title": title, "text": text} for own, (title, text) in SOLD.items()]
    write(folder / "corpus.jsonl", rows)
    trec_runs(folder)


def _csv(folder: Path) -> None:
    _beside(folder)
    rows = [
        {"query": query, "doc": doc, "score": grade, "reason": _REASON, "model": "gpt-4o"}
        for query, doc, grade in judged()
    ]
    write(folder / "judged_by_gpt.csv", rows)


def _fractions(folder: Path) -> None:
    _beside(folder)
    rows = [
        {
            "query_id": query,
            "doc_id": doc,
            "score": round(grade / 3, 2),
            "reason": _REASON,
            "model": "llama-3",
        }
        for query, doc, grade in judged()
    ]
    json_lines(folder / "llm_scores.jsonl", rows)


def _yes_and_no(folder: Path) -> None:
    _beside(folder)
    rows = [
        {"query_id": query, "doc_id": doc, "relevant": grade > 1, "explanation": _REASON}
        for query, doc, grade in judged()
    ]
    json_lines(folder / "judges" / "mistral.jsonl", rows)
    table = [
        {"query": query, "doc": doc, "verdict": "yes" if grade > 1 else "no", "reason": _REASON}
        for query, doc, grade in judged()
    ]
    write(folder / "judges" / "phi.csv", table)


_BESIDE = {
    "topics.tsv": QUERIES,
    "people.qrels": JUDGMENTS,
    "corpus.jsonl": PASSAGES,
    "runs/*.run": RUNS,
}
FOLDERS = (
    Folder(
        "judge-csv",
        _csv,
        {**_BESIDE, "judged_by_gpt.csv": LABELS},
        rows={"grades": N_JUDGED},
        judges=("gpt-4o",),
    ),
    Folder(
        "judge-fractions",
        _fractions,
        {**_BESIDE, "llm_scores.jsonl": LABELS},
        rows={"grades": N_JUDGED},
        judges=("llama-3",),
    ),
    Folder(
        "judge-yes-no",
        _yes_and_no,
        {**_BESIDE, "judges/mistral.jsonl": LABELS, "judges/phi.csv": LABELS},
        rows={"grades": 2 * N_JUDGED},
        judges=("mistral", "phi"),
    ),
)
