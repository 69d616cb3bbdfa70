"""Each query's passages: who retrieved them, what labels they have, and their texts."""

import json
from collections.abc import Iterable

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
        of = {"collection": collection, "first_query": batch[0], "last_query": batch[-1]}
        rankings = ask_by(lake, "rankings", "query_id", "system", **of)
        keys = ("query_id", "label_set")
        labels = ask_by(lake, "passage_labels", *keys, label_sets=label_sets, **of)
        with_text: dict[str, set[str]] = {}
        for query_id in batch:
            own_labels, ranked = labels.get(query_id, {}), rankings.get(query_id, {})
            in_grids = grids.shown.get(query_id, set())
            seen = in_grids.union(*(ranking["passages"] for ranking in ranked.values()))
            seen = seen.union(*own_labels.values())
            passages = sorted(seen)
            place = {passage_id: at for at, passage_id in enumerate(passages)}
            packs[f"query-{number}"] = pack(
                {
                    "passages": passages,
                    "labels": {
                        label_set: [own.get(passage_id) for passage_id in passages]
                        for label_set, own in own_labels.items()
                    },
                    "rankings": {
                        system: ranking | {"passages": [place[one] for one in ranking["passages"]]}
                        for system, ranking in ranked.items()
                    },
                    "items": items.get(query_id, []),
                }
            )
            if most is not None:
                seen = in_grids.union(*(one["passages"][:most] for one in ranked.values()))
            with_text[f"texts-{number}"] = seen
            number += 1
        if without_rubric:
            continue
        # as JSON: of a list DuckDB asks one by one whether pandas knows them
        every = json.dumps(list(set().union(*with_text.values())))
        texts = ask_by(lake, "texts", "passage_id", collection=collection, passage_ids=every)
        for name, passage_ids in with_text.items():
            packs[name] = pack({p: texts[p] for p in sorted(passage_ids) if p in texts})
    return packs
