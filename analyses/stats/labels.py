"""`gradelake stats alpha`: how far assessors and judges agree, whatever each of them labelled."""

from dataclasses import dataclass

import numpy as np

from gradelake.analyses.qrels_export import label_sets as known_label_sets
from gradelake.analyses.qrels_export import require_label_set
from gradelake.analyses.stats.boards import counting_of
from gradelake.analyses.stats.counting import n_effective
from gradelake.analyses.stats.krippendorff_alpha import alpha, bootstrap_alpha, coincidences
from gradelake.analyses.stats.resample import Spread, or_none
from gradelake.sql.common.errors import BadInput
from gradelake.sql.lake.connection import execute
from gradelake.sql.lake.opening import Lake

# what a judge's label rubrics were distilled from says nothing about its agreement
LABELS = """
    select
        query_id,
        dense_rank() over (order by query_id, passage_id) as pair,
        greatest(label, 0) as label
    from lake.marts.relevance_labels
    where collection = $collection and label_set in (select unnest($label_sets))
        and (collection, label_set, query_id, passage_id) not in (
            select (collection, label_set, query_id, passage_id)
            from lake.marts.sampled_pairs
        )
"""
RATERS = """
    select label_set
    from lake.intermediate.int_raters
    where collection = ? and stands_for_sources
    order by label_set
"""
# which of these are made of each other, or of a third
SHARING = """
    select one.label_set, other.label_set, list_intersect(one.sources, other.sources)
    from lake.intermediate.int_raters as one
    inner join lake.intermediate.int_raters as other using (collection)
    where
        collection = $collection
        and one.label_set in (select unnest($label_sets))
        and other.label_set in (select unnest($label_sets))
        and len(one.sources) >= len(other.sources)
        and one.sources != other.sources
        and list_has_any(one.sources, other.sources)
    order by all
    limit 1
"""
SCALES = """
    select label_set, greatest(max(label), 0)
    from lake.marts.relevance_labels
    where collection = $collection and label_set in (select unnest($label_sets))
    group by label_set
"""


@dataclass(frozen=True)
class LabelAgreement:
    """Alpha of some label sets; None where it is undefined. `highest`: each one's highest label;
    `left_out`: label sets of the collection that are made of these, or of the same grades."""

    label_sets: list[str]
    left_out: list[str]
    metric: str
    value: float | None
    spread: Spread
    n_pairs: int
    by_query: list[tuple[str, float | None, int]]
    highest: dict[str, int]

    @property
    def undefined_reason(self) -> str | None:
        if self.value is not None:
            return None
        return "all labels are equal" if self.n_pairs else "no pair has two labels"


def compare_labels(
    lake: Lake,
    collection: str,
    label_sets: list[str],
    metric: str,
    n_replicates: int,
    seed: int,
    confidence: float,
) -> LabelAgreement:
    """Alpha over the pairs of query and passage that at least two of the label sets labelled: of
    pairs, so that no weight of a query counts. Clusters of queries are resampled as a whole; the
    interval is around alpha, as that of a kappa.

    No label sets means all of the collection, each rater once. Raises `BadInput` for names that are
    not there, for fewer than two, and for one that is made of another's labels.
    """
    known = known_label_sets(lake, collection)
    for name in label_sets:
        require_label_set(lake, collection, name)
    names = list(dict.fromkeys(label_sets)) or lake.column(RATERS, collection)
    left_out = [] if label_sets else [name for name in known if name not in names]
    if len(names) < 2:
        raise BadInput(
            f"{names[0]!r} alone cannot agree", "Name at least two label sets: --label-set NAME."
        )
    key = {"collection": collection, "label_sets": names}
    for one, other, shared in lake.rows(SHARING, **key):
        raise BadInput(
            f"{one!r} and {other!r} both hold the labels of {', '.join(sorted(shared))}",
            "Nobody is a second rater beside their own labels: leave one of them out.",
        )
    columns = execute(lake.connection, LABELS, key).fetchnumpy()
    query_ids = columns["query_id"].astype(str)
    found = coincidences(query_ids, columns["pair"], columns["label"])
    overall = alpha(found.counts.sum(axis=0), found.scale, metric)
    by_query = alpha(found.counts, found.scale, metric)
    counting = counting_of(lake, collection)
    clusters = np.array([counting.get(query, (1, query))[1] for query in found.queries])
    drawn = bootstrap_alpha(found, metric, n_replicates, seed, clusters)
    names_of, unit = np.unique(clusters, return_inverse=True)
    of_one_size = n_effective(np.bincount(unit, weights=found.n_pairs))
    n_disagreeing = len(set(clusters[found.disagrees]))
    spread = Spread.around(
        float(overall),
        drawn,
        len(names_of),
        confidence,
        is_correlation=True,
        n_effective=min(of_one_size, n_disagreeing or of_one_size),
    )
    queries = [
        (query, or_none(value), int(n))
        for query, value, n in zip(found.queries, by_query, found.n_pairs, strict=True)
    ]
    n_pairs = int(found.n_pairs.sum())
    highest = dict(lake.rows(SCALES, **key))
    return LabelAgreement(
        names, left_out, metric, or_none(overall), spread, n_pairs, queries, highest
    )
