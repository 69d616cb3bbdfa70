"""Samples of an assessor's judged pairs: as many of each label, the same ones for a seed."""

from dataclasses import dataclass

from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import TO_JUDGE, require_known
from gradelake.sql.lake.opening import Lake


@dataclass(frozen=True)
class Pair:
    """A judged pair and its texts. `label` is the judgment, 0 where it is below."""

    query_id: str
    passage_id: str
    label: int
    query: str
    passage: str
    description: str
    narrative: str


@dataclass(frozen=True)
class PairSample:
    """`pairs` in an order drawn by the seed, with `per_label` of each label of `available`.

    `available` counts the pairs that could be drawn, by label; of a label that has fewer than
    `per_label` all are drawn.
    """

    pairs: tuple[Pair, ...]
    per_label: int
    available: dict[int, int]

    @property
    def short(self) -> dict[int, int]:
        """The labels that have fewer pairs than were to be drawn, and how many they have."""
        return {label: n for label, n in self.available.items() if n < self.per_label}

    def of(self, label: int) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.label == label)


def check_assessor(lake: Lake, collection: str, assessor: str) -> None:
    """Raise `BadInput` for a collection, or an assessor of it, that the lake does not have."""
    lake.require_collection(collection)
    assessors = lake.column(
        "select distinct assessor from lake.raw.judgments where collection = ?", collection
    )
    missing = f"no judgments of {assessor!r} in {collection}"
    require_known(assessor, assessors, missing, none_yet=TO_JUDGE)


def sample_pairs(
    lake: Lake,
    collection: str,
    assessor: str,
    *,
    share: float,
    per_label: int | None,
    seed: int,
    query_ids: tuple[str, ...] | None = None,
) -> PairSample:
    """Draw from an assessor's judged pairs that have texts, the same number of each label.

    The labels are 0 to the collection's max_relevance (judgments below 0 count as 0). Per label
    round(share * pairs / labels) are drawn, at least 1, or `per_label`. Pairs are ordered by a hash
    of seed and ids, so that the same seed draws the same. Passages that the collection leaves out
    as near-duplicates are not drawn. Raises `BadInput` for an unknown collection or assessor, and
    when a label has no pair at all.
    """
    check_assessor(lake, collection, assessor)
    _, highest = lake.relevance(collection)
    judged = f"""
        {JUDGED}
        from judged
        where
            label <= $highest
            and ($query_ids::varchar[] is null or list_contains($query_ids, query_id))
    """
    values = {
        "collection": collection,
        "assessor": assessor,
        "seed": str(seed),
        "highest": highest,
        "query_ids": list(query_ids) if query_ids else None,
    }
    counts = dict(lake.rows(f"select label, count(*) from ({judged}) group by label", **values))
    available = {label: counts.get(label, 0) for label in range(highest + 1)}
    if missing := [str(label) for label, n in available.items() if not n]:
        raise BadInput(
            f"{collection} has no passage with a text that {assessor} gave the label "
            f"{' or '.join(missing)}",
            f"Every label from 0 to {highest} (max_relevance of [collections.{collection}]) needs "
            "one: without it there is nothing to make its rubric from.",
        )
    n = per_label or max(1, round(share * sum(available.values()) / len(available)))
    rows = lake.rows(
        f"""
        select query_id, passage_id, label, query, passage, description, narrative
        from ({judged})
        qualify
            row_number() over (partition by label order by draw, query_id, passage_id) <= $n
        order by draw, query_id, passage_id
        """,
        **values,
        n=n,
    )
    return PairSample(tuple(Pair(*row) for row in rows), n, available)


# $collection, $assessor, $seed; `draw` is the order that the seed gives
JUDGED = """
with judged as (
    select
        judgments.query_id,
        judgments.passage_id,
        judgments.relevance,
        greatest(judgments.relevance, 0) as label,
        collections.min_relevant,
        queries.text as query,
        coalesce(queries.description, '') as description,
        coalesce(queries.narrative, '') as narrative,
        passages.text as passage,
        sha256(concat_ws(chr(31), $seed, judgments.query_id, judgments.passage_id)) as draw
    from lake.raw.judgments as judgments
    inner join lake.raw.collections as collections using (collection)
    inner join lake.raw.queries as queries using (collection, query_id)
    inner join lake.raw.passages as passages using (collection, passage_id)
    left join lake.raw.near_duplicates as near_duplicates using (collection, passage_id)
    where
        judgments.collection = $collection
        and judgments.assessor = $assessor
        and (
            near_duplicates.passage_id is null
            or not collections.leave_out_near_duplicates
        )
)
"""
