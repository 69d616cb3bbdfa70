"""MS MARCO passages: tables without headers, by their places; ids are numbers."""

from pathlib import Path

from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, N_QUERIES, RANKED, SOLD, judged, lines, ranked
from tests.projects import write

_NUMBER = {passage: str(7_000_000 + n) for n, passage in enumerate(SOLD)}
_TEXT = {_NUMBER[passage]: f"{title}. {text}" for passage, (title, text) in SOLD.items()}


def _dev(folder: Path) -> None:
    write(folder / "queries.dev.small.tsv", ASKED)
    write(folder / "collection.tsv", _TEXT)
    rows = [f"{query}\t0\t{_NUMBER[doc]}\t1" for query, doc, grade in judged() if grade == 3]
    lines(folder / "qrels.dev.small.tsv", rows)
    for system in RANKED:
        rows = [f"{query}\t{_NUMBER[doc]}\t{rank}" for query, doc, rank, _ in ranked(system)]
        lines(folder / f"run.{system}.dev.small.tsv", rows)


def _judged(folder: Path) -> None:
    """The passages and queries of `top1000`, judged by NIST."""
    rows = [f"{query} Q0 {_NUMBER[doc]} {grade}" for query, doc, grade in judged()]
    lines(folder / "2019qrels-pass.txt", rows)
    rows = [
        f"{query}\t{_NUMBER[doc]}\t{ASKED[query]}\t{_TEXT[_NUMBER[doc]]}"
        for query, doc, *_ in ranked("weak")
    ]
    lines(folder / "top1000.dev", rows)


def _reranked(folder: Path) -> None:
    _judged(folder)
    for system in RANKED:
        rows = [f"{query}\t{_NUMBER[doc]}\t{rank}\t{s}" for query, doc, rank, s in ranked(system)]
        lines(folder / system / "ranking.tsv", rows)


def _colbert(folder: Path) -> None:
    write(folder / "queries.tsv", ASKED)
    write(folder / "collection.tsv", _TEXT)
    rows = [f"{query}\t0\t{_NUMBER[doc]}\t{grade}" for query, doc, grade in judged()]
    lines(folder / "qrels.tsv", rows)
    for system in RANKED:
        rows = [f"{query}\t{_NUMBER[doc]}\t{rank}\t{s}" for query, doc, rank, s in ranked(system)]
        lines(folder / "experiments" / system / "nbits=2.ranking.tsv", rows)


_TEXTS = {"collection.tsv": PASSAGES}
FOLDERS = (
    Folder(
        "msmarco",
        _dev,
        {
            **_TEXTS,
            "queries.dev.small.tsv": QUERIES,
            "qrels.dev.small.tsv": JUDGMENTS,
            "run.*.tsv": RUNS,
        },
        systems=("run.strong.dev.small", "run.weak.dev.small"),
        rows={"judgments": 2 * N_QUERIES},
    ),
    Folder(
        "msmarco-top1000",
        _reranked,
        {
            "top1000.dev": (QUERIES, PASSAGES),
            "2019qrels-pass.txt": JUDGMENTS,
            "*/ranking.tsv": RUNS,
        },
        systems=("strong-ranking", "weak-ranking"),
    ),
    Folder(
        "colbert",
        _colbert,
        {
            **_TEXTS,
            "queries.tsv": QUERIES,
            "qrels.tsv": JUDGMENTS,
            "experiments/*/nbits=2.ranking.tsv": RUNS,
        },
        systems=("strong-nbits=2.ranking", "weak-nbits=2.ranking"),
    ),
)
