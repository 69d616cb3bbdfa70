"""Sheets as people keep them: titles above the header, `sep=;`, decimal commas, words, raters."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from gradelake.ingest.reading.csv_tables import written
from gradelake.sql.lake import extensions
from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import ASKED, N_JUDGED, RANKED, SOLD, judged, ranked
from tests.projects import write

_WORDS = {"Perfect": 3, "Relevant": 2, "Partly": 1, "Irrelevant": 0}
_WORD = {grade: word for word, grade in _WORDS.items()}


def _sheet(path: Path, rows: Sequence[Sequence[Any]], mark: str = ",", above: str = "") -> None:
    text = written([[*map(str, row)] for row in rows])
    if mark != ",":
        text = "".join(f"{mark.join(map(str, row))}\n" for row in rows)
    write(path, above + text)


def _european(folder: Path) -> None:
    """As a spreadsheet in German saves it: semicolons, said on a first line, and decimal commas."""
    rows: list[list[Any]] = [["Search term", "Product ID", "Score"]]
    for system in RANKED:
        found = [
            [ASKED[query], doc, f"{score:.2f}".replace(".", ",")]
            for query, doc, _, score in ranked(system)
        ]
        _sheet(folder / f"{system}.csv", [*rows, *found], ";", above="sep=;\n")
    rated = [[ASKED[query], doc, f"{grade},0"] for query, doc, grade in judged()]
    header = ["Search term", "Product ID", "Rating"]
    _sheet(folder / "ratings.csv", [header, *rated], ";", above="sep=;\n")
    products = [[own, title, text.replace(";", ",")] for own, (title, text) in SOLD.items()]
    _sheet(folder / "products.csv", [["Product ID", "Title", "Description"], *products], ";")


def _titled(folder: Path) -> None:
    """Titles above the header, notes in lines of their own, words as judgments, raters in one
    column: Ann judged all, Bob every other pair."""
    rated = [
        [ASKED[query], doc, rater, _WORD[max(grade - less, 0)]]
        for number, (query, doc, grade) in enumerate(judged())
        for rater, less in (("Ann", 0), ("Bob", 1))[: 1 + (number + 1) % 2]
    ]
    above = "Relevance check of spring 2026,,,\nasked by the shop's team,,,\n,,,\n"
    header = [" Query ", "Product ID", "Rater", "Rating"]
    _sheet(folder / "ratings.csv", [header, *rated], above=above)
    results = [["query", "product id", "position"]]
    for system in RANKED:
        rows = [[ASKED[query], doc, rank] for query, doc, rank, _ in ranked(system)]
        above = "# exported on 2026-03-05\n# by the search team\n"
        _sheet(folder / f"{system}.csv", [*results, *rows], above=above)
    products = [[own, *SOLD[own]] for own in SOLD]
    _sheet(folder / "products.csv", [["product id", "title", "description"], *products])


def _columns(folder: Path) -> None:
    """A column a rater, yes or no; a row that nobody filled in."""
    rated = [
        [ASKED[query], doc, "yes" if grade > 1 else "no", ("Yes" if grade > 0 else "No", "")[n % 2]]
        for n, (query, doc, grade) in enumerate(judged())
    ]
    _sheet(folder / "ratings.csv", [["Query", "Doc ID", "Ann", "Bob"], *rated])
    for system in RANKED:
        rows = [[ASKED[query], doc, rank] for query, doc, rank, _ in ranked(system)]
        _sheet(folder / f"{system}.csv", [["Query", "Doc ID", "Rank"], *rows])
    products = [[own, *SOLD[own]] for own in SOLD]
    _sheet(folder / "products.csv", [["Doc ID", "Title", "Text"], *products])


def _book(folder: Path) -> None:
    """A workbook with a title above its header."""
    header = ["Search term", "Product ID", "Rating", "Rated by"]
    rated = [[ASKED[query], doc, str(grade), "Ann"] for query, doc, grade in judged()]
    rows = [["Relevance check, spring 2026", "", "", ""], [""] * 4, header, *rated]
    _workbook(folder / "ratings.xlsx", rows)
    for system in RANKED:
        found = [[ASKED[query], doc, rank] for query, doc, rank, _ in ranked(system)]
        _sheet(folder / f"{system}.csv", [["Search term", "Product ID", "Position"], *found])
    products = [[own, *SOLD[own]] for own in SOLD]
    _sheet(folder / "products.csv", [["Product ID", "Title", "Text"], *products])


def _workbook(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        extensions.load(connection, "excel")
        connection.register("frame", pl.DataFrame(rows, schema=["a", "b", "c", "d"], orient="row"))
        connection.execute(f"copy (from frame) to '{path}' (format xlsx)")


_KINDS = {
    "products.csv": PASSAGES,
    "ratings.csv": (QUERIES, JUDGMENTS),
    "strong.csv": (QUERIES, RUNS),
    "weak.csv": (QUERIES, RUNS),
}
_OF_BOTH = N_JUDGED + N_JUDGED // 2
FOLDERS = (
    Folder("sheet-semicolons", _european, _KINDS, ids=False),
    Folder(
        "sheet-titles",
        _titled,
        _KINDS,
        rows={"judgments": _OF_BOTH},
        assessors=("Ann", "Bob"),
        labels=_WORDS,
        ids=False,
    ),
    Folder(
        "sheet-raters",
        _columns,
        _KINDS,
        rows={"judgments": _OF_BOTH},
        assessors=("ann", "bob"),
        labels={"yes": 1, "no": 0},
        ids=False,
    ),
    Folder(
        "workbook",
        _book,
        {
            "products.csv": PASSAGES,
            "ratings.xlsx": (QUERIES, JUDGMENTS),
            "strong.csv": (QUERIES, RUNS),
            "weak.csv": (QUERIES, RUNS),
        },
        assessors=("Ann",),
        ids=False,
    ),
)
