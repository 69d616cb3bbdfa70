"""Quepid's exports: basic, detailed and snapshots of a case, a book of judges, LTR's text."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gradelake.ingest.reading.csv_tables import written
from tests.ingest.forms.folder import JUDGMENTS, PASSAGES, QUERIES, RUNS, Folder
from tests.ingest.forms.world import (
    ASKED,
    JUDGED,
    N_JUDGED,
    N_QUERIES,
    RANKED,
    SOLD,
    judged,
    lines,
    ranked,
)
from tests.projects import write

_CASE = ["Team Name", "Case Name", "Case ID", "Query Text", "Doc ID", "Doc Position", "Title"]
_SNAPSHOT = ["Snapshot Name", "Snapshot Time", "Case ID", "Query Text", "Doc ID", "Doc Position"]
_UNRATED = "a search that nobody rated yet"


def _csv(path: Path, rows: Iterable[Iterable[Any]], end: str = "\r\n") -> None:
    write(path, written([[*map(str, row)] for row in rows], end))


def _snapshot(folder: Path, system: str, fields: bool) -> None:
    rows: list[list[Any]] = [[*_SNAPSHOT, "title", "overview"] if fields else _SNAPSHOT]
    for query, passage, rank, _ in ranked(system):
        row = [f"(3/5/26) {system}", "2026-03-05T12:00:00Z", 8, ASKED[query], passage, rank]
        rows.append([*row, *SOLD[passage]] if fields else row)
    _csv(folder / f"{system}_snapshot.csv", rows)


def _basic(folder: Path) -> None:
    """Ratings; a query without any is alone on its line, with no commas after it."""
    rows = [[ASKED[query], passage, grade] for query, passage, grade in judged()]
    _csv(folder / "Camping_basic.csv", [["query", "docid", "rating"], *rows, [_UNRATED]], "\n")
    for system in RANKED:
        _snapshot(folder, system, fields=True)


def _detailed(folder: Path) -> None:
    """The case as it is searched now, of which a snapshot is older; a query without results has no
    further cells."""
    rows: list[list[Any]] = [[*_CASE, "Rating", "overview"]]
    for query, passage, rank, _ in ranked("strong"):
        title, text = SOLD[passage]
        grade = JUDGED[query].get(passage, "")
        rows.append(["Shop", "Camping", 8, ASKED[query], passage, rank, title, grade, text])
    rows.append(["Shop", "Camping", 8, _UNRATED])
    _csv(folder / "Camping_detailed.csv", rows)
    _snapshot(folder, "weak", fields=False)


def _book(folder: Path) -> None:
    """A column a judge; Ann rated all, Bob every other pair, and somebody without a name three."""
    rows = [
        [
            ASKED[query],
            passage,
            f"{grade}.0",
            "" if number % 2 else f"{max(grade - 1, 0)}.0",
            f"{grade}.0" if number < 3 else "",
        ]
        for number, (query, passage, grade) in enumerate(judged())
    ]
    header = ["query", "docid", "Ann Ames", "bob@shop.test", "anonymous"]
    _csv(folder / "book_7_export.csv", [header, *rows], "\n")
    for system in RANKED:
        _snapshot(folder, system, fields=True)


def _ltr(folder: Path) -> None:
    """Its template leaves an empty line after each rating."""
    rows = [f"{grade} qid:{query} # {doc} {ASKED[query]}\n" for query, doc, grade in judged()]
    lines(folder / "Camping_ltr.txt", ["", *rows])
    for system in RANKED:
        _snapshot(folder, system, fields=True)


_SNAPSHOTS = ("strong_snapshot", "weak_snapshot")
_OF_SNAPSHOTS = {"*_snapshot.csv": (QUERIES, PASSAGES, RUNS)}
FOLDERS = (
    Folder(
        "quepid-basic",
        _basic,
        {**_OF_SNAPSHOTS, "Camping_basic.csv": (QUERIES, JUDGMENTS)},
        systems=_SNAPSHOTS,
        rows={"queries": N_QUERIES + 1},
        ids=False,
    ),
    Folder(
        "quepid-detailed",
        _detailed,
        {
            "Camping_detailed.csv": (QUERIES, PASSAGES, RUNS, JUDGMENTS),
            "weak_snapshot.csv": (QUERIES, RUNS),
        },
        systems=("Camping_detailed", "weak_snapshot"),
        rows={"queries": N_QUERIES + 1},
        ids=False,
    ),
    Folder(
        "quepid-book",
        _book,
        {**_OF_SNAPSHOTS, "book_7_export.csv": (QUERIES, JUDGMENTS)},
        systems=_SNAPSHOTS,
        rows={"judgments": N_JUDGED + N_JUDGED // 2 + 3},
        assessors=("ann_ames", "bob@shop.test", "anonymous"),
        ids=False,
    ),
    Folder(
        "quepid-ltr",
        _ltr,
        {**_OF_SNAPSHOTS, "Camping_ltr.txt": (QUERIES, JUDGMENTS)},
        systems=_SNAPSHOTS,
    ),
)
