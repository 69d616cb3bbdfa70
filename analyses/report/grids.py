"""The grade grid: passages by rubric items, a query at a time."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gradelake.analyses.report.packed import pack
from gradelake.analyses.report.report_queries import ask
from gradelake.sql.lake.lake import Lake


@dataclass(frozen=True)
class Grids:
    """`choices`: {grader: [{query_id, query, n_passages, n_items, id, shown}]}, for the page's
    menus. `packs`: id -> packed grid of a grader and query; `texts`: query id -> id of its texts'
    pack."""

    choices: dict[str, list[dict[str, Any]]]
    packs: dict[str, str]
    texts: dict[str, str]


def read_grids(
    lake: Lake,
    collection: str,
    rubric_version: int | None,
    assessor: str | None,
    most: int | None,
    progress: Callable[[list], Iterable],
) -> Grids:
    """The grids of a version of the rubric. `most` bounds each one's passages, the best kept."""
    ask(lake, "grid", collection=collection, rubric_version=rubric_version)
    choices: dict[str, list[dict[str, Any]]] = {}
    packs: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}  # query -> passages whose text some grid shows
    for number, row in enumerate(progress(ask(lake, "grid_queries", collection=collection))):
        key = {"grader": row["grader"], "query_id": row["query_id"]}
        passages = ask(lake, "grid_passages", collection=collection, assessor=assessor, **key)[
            :most
        ]
        name = f"grid-{number}"
        packs[name] = pack({"items": ask(lake, "grid_items", **key), "passages": passages})
        choices.setdefault(row["grader"], []).append(row | {"id": name, "shown": len(passages)})
        wanted.setdefault(row["query_id"], set()).update(
            passage["passage_id"] for passage in passages
        )
    texts = {query_id: f"texts-{number}" for number, query_id in enumerate(wanted)}
    for query_id, name in texts.items():
        rows = ask(lake, "grid_texts", collection=collection, query_id=query_id)
        packs[name] = pack(
            {
                row["passage_id"]: row["text"]
                for row in rows
                if row["passage_id"] in wanted[query_id]
            }
        )
    return Grids(choices, packs, texts)
