"""Each query's passages: who retrieved them, what labels they have, and their texts."""

import json
from collections.abc import Iterable
from typing import Any

from gradelake.analyses.report.grids import Grids, pack
from gradelake.analyses.report.report_queries import ask_by
from gradelake.sql.lake.opening import Lake


def read_rankings(
    lake: Lake,
    collection: str,
    batches: Iterable[list[str]],
    label_sets: list[str],
    rubric_version: int | None,
    grids: Grids,
    most: int | None,
    without_rubric: bool,
) -> dict[str, str]:
    """Packs of every query of each batch of ids, numbered in their order, by the pack's id.

    `query-N`: {passages: [id], labels: {label set: [label or None, one per passage]}, rankings:
    {system: {n_retrieved, passages: [place in `passages`, in order of rank]}}, items: [{item_id,
    item_text, facet_id}]}. `texts-N`: {passage id: text}.

    Passages that have a label, and no rank or grid, are there too. Where `most` bounds grids, texts
    are those of grids and of the first `most` of each ranking. `without_rubric` leaves out all
    items and texts.
    """
    packs: dict[str, str] = {}
    items = {}
    if not without_rubric:
        rubric = {"collection": collection, "rubric_version": rubric_version}
        items = ask_by(lake, "query_items", "query_id", **rubric)
    number = 0
    for batch in batches:
        asked = {"collection": collection, "first_query": batch[0], "last_query": batch[-1]}
        rankings = ask_by(lake, "rankings", "query_id", "system", **asked)
        keys = ("query_id", "label_set")
        labels = ask_by(lake, "passage_labels", *keys, label_sets=label_sets, **asked)
        with_text: dict[str, set[str]] = {}
        for query_id in batch:
            ranked, in_grids = rankings.get(query_id, {}), grids.shown.get(query_id, set())
            found = _ranked_and_labelled(ranked, labels.get(query_id, {}), in_grids)
            packs[f"query-{number}"] = pack(found | {"items": items.get(query_id, [])})
            with_text[f"texts-{number}"] = (
                set(found["passages"])
                if most is None
                else in_grids.union(*(one["passages"][:most] for one in ranked.values()))
            )
            number += 1
        if not without_rubric:
            packs |= _texts(lake, collection, with_text)
    return packs


def _ranked_and_labelled(
    rankings: dict[str, dict[str, Any]], labels: dict[str, dict[str, int]], in_grids: set[str]
) -> dict[str, Any]:
    """The passages of a query, and where they stand in its rankings and label sets."""
    seen = in_grids.union(*(ranking["passages"] for ranking in rankings.values()))
    passages = sorted(seen.union(*labels.values()))
    place = {passage_id: at for at, passage_id in enumerate(passages)}
    return {
        "passages": passages,
        "labels": {
            label_set: [label_of.get(passage_id) for passage_id in passages]
            for label_set, label_of in labels.items()
        },
        "rankings": {
            system: ranking | {"passages": [place[each] for each in ranking["passages"]]}
            for system, ranking in rankings.items()
        },
    }


def _texts(lake: Lake, collection: str, passages: dict[str, set[str]]) -> dict[str, str]:
    """A pack of the texts of each of these sets of passages, by its name."""
    # as JSON: of a list DuckDB asks one by one whether pandas knows them
    every = json.dumps(list(set().union(*passages.values())))
    texts = ask_by(lake, "texts", "passage_id", collection=collection, passage_ids=every)
    return {
        name: pack({each: texts[each] for each in sorted(ids) if each in texts})
        for name, ids in passages.items()
    }
