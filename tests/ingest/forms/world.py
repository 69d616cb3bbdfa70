"""What all folders of forms hold: searches of a shop for camping, what it sells, how it was judged.

Eight queries have ten passages each, of which eight are judged. Two systems rank all ten: `strong`
nearly as they were judged, `weak` nearly the other way.
"""

from pathlib import Path
from typing import Any

import polars as pl

from tests.projects import write

ASKED = {
    "101": "two person tent",
    "102": "warm sleeping bag for winter",
    "103": "gas stove that folds",
    "104": "rain jacket for hiking",
    "105": "head torch with red light",
    "106": "light camping chair",
    "107": "water filter for streams",
    "108": "boots for wide feet",
}
_GRADES = (3, 2, 3, 1, 2, 0, 1, 0)  # of the first eight passages of a query
_KINDS = ("classic", "trail", "alpine", "family", "compact", "budget", "premium", "storm")
_KINDS += ("summer", "old")
_USES = (
    "It is made for weekends on foot, and weighs less than most of its kind.",
    "Many who walk for weeks carry it, since it dries within an hour in the sun.",
    "It comes with a bag, four spare parts and a leaflet on how to mend it.",
    "Children can handle it, and it has lasted ten summers with a family of five.",
    "It was tested in the wind of the coast, and is sold with a warranty of two years.",
)

SOLD: dict[str, tuple[str, str]] = {}  # id -> title, text
JUDGED: dict[str, dict[str, int]] = {query: {} for query in ASKED}
RANKED: dict[str, dict[str, list[str]]] = {"strong": {}, "weak": {}}  # system -> query -> passages


def _fill() -> None:
    for number, (query, text) in enumerate(ASKED.items()):
        ids = [f"B0{query}{place}" for place in range(len(_KINDS))]
        for place, (passage, kind) in enumerate(zip(ids, _KINDS, strict=True)):
            title = f"{kind.title()} {text}, number {place + 1}"
            body = f"This is the {kind} one of our {text}s. {_USES[(number + place) % len(_USES)]}"
            SOLD[passage] = (title, body)
        JUDGED[query] = dict(zip(ids, _GRADES, strict=False))
        best = sorted(ids, key=lambda passage: -JUDGED[query].get(passage, 0))
        turn = number % 3  # so that queries differ
        RANKED["strong"][query] = [*best[turn:5], *best[:turn], *best[5:]]
        RANKED["weak"][query] = [*best[9 - turn :], *reversed(best[: 9 - turn])]


_fill()
N_QUERIES, N_PASSAGES = len(ASKED), len(SOLD)
N_JUDGED = sum(map(len, JUDGED.values()))
N_RANKED = sum(map(len, RANKED["strong"].values()))  # of a system


def judged() -> list[tuple[str, str, int]]:
    """(query, passage, grade)."""
    return [
        (query, passage, grade)
        for query, grades in JUDGED.items()
        for passage, grade in grades.items()
    ]


def ranked(system: str) -> list[tuple[str, str, int, float]]:
    """(query, passage, rank, score)."""
    return [
        (query, passage, rank, round(12.5 - rank + rank / 7, 4))
        for query, passages in RANKED[system].items()
        for rank, passage in enumerate(passages, start=1)
    ]


def lines(path: Path, rows: list[Any], end: str = "\n") -> None:
    """Write rows as lines."""
    write(path, "".join(f"{row}{end}" for row in rows))


def json_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    write(path.with_suffix(".jsonl"), rows)
    path.with_suffix(".jsonl").rename(path)


def parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)


def trec_run(path: Path, system: str) -> None:
    rows = [
        f"{query} Q0 {doc} {rank} {score} {system}" for query, doc, rank, score in ranked(system)
    ]
    lines(path, rows)


def trec_runs(folder: Path) -> None:
    for system in RANKED:
        trec_run(folder / "runs" / f"{system}.run", system)


def result_tables(folder: Path) -> None:
    """A CSV of results for each system, of queries by their texts."""
    for system in RANKED:
        write(
            folder / f"{system}.csv",
            [
                {"query": ASKED[query], "doc_id": passage, "rank": rank}
                for query, passage, rank, _ in ranked(system)
            ],
        )
