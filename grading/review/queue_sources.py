"""A queue to be made, and what its cards are chosen from: grades, a verification list, a pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradelake.grading.review.cards import Card, Reviewable
    from gradelake.sql.lake.opening import Lake

_OF_BEST_ITEM = """
    on
        listed.query_id = eligible.query_id
        and listed.passage_id = eligible.passage_id
        and listed.best_item_id = eligible.item_id
"""
# source -> the mart that is its list; what makes grades useful, the greatest first; which of the
# eligible grades the list is about
_LISTS = {
    # answers that items find in passages that people judged non-relevant
    "spurious": (
        "spurious_items",
        "listed.rate, listed.n_hits",
        """
        using (query_id, item_id)
        semi join (
            select judgments.query_id, judgments.passage_id
            from lake.raw.judgments as judgments
            inner join lake.raw.collections as collections using (collection)
            where
                judgments.collection = $collection
                and judgments.relevance < collections.min_relevant
        ) as non_relevant using (query_id, passage_id)
        where listed.tau = $tau and listed.is_usual and eligible.grade >= $tau
        """,
    ),
    # the best grades of passages that people judged relevant, and that no item covers
    "uncovered": (
        "uncovered_passages",
        "listed.judgment, listed.best_grade",
        f"{_OF_BEST_ITEM} where listed.tau = $tau",
    ),
    # the grades that make the labels farthest from people's judgments
    "disagreements": ("disagreements", "listed.gap, eligible.grade", _OF_BEST_ITEM),
    # the best grade of each item that no passage answers
    "never-covered": (
        "never_covered_items",
        "eligible.grade, listed.n_graded",
        """
        using (query_id, item_id)
        where listed.tau = $tau
        qualify 1 = row_number() over (
            partition by eligible.query_id, eligible.item_id
            order by eligible.grade desc, eligible.passage_id
        )
        """,
    ),
}
OF_GRADES = ("sample", *_LISTS)
OF_PAIRS = ("estimate", "sample")  # of a label set, to be judged
POOL = "pool"  # what systems ranked high, to be judged before anything has graded it
SOURCES = (*dict.fromkeys((*OF_GRADES, *OF_PAIRS)), POOL)
MOST = 2_000  # cards of a queue that is not the pool
_POOL = """
    with

    collections as (
        select default_pool_depth from lake.raw.collections where collection = $collection
    ),

    entries as (
        select * from lake.intermediate.int_rankings where collection = $collection
    )

    select distinct
        entries.query_id,
        entries.passage_id,
        queries.text,
        list_position($queries, entries.query_id) as place
    from entries
    cross join collections
    inner join lake.raw.queries as queries using (collection, query_id)
    semi join lake.raw.passages using (collection, passage_id)
    where
        entries.rank <= coalesce($depth, collections.default_pool_depth)
        and ($queries is null or place is not null)
    order by
        place,
        try_cast(entries.query_id as bigint),
        entries.query_id,
        md5(concat_ws('/', $seed, entries.passage_id))
"""
_CHOSEN = """
    {eligible},

    listed as (
        select * from lake.marts.{mart}
        where
            collection = $collection
            and grader = $grader
            and rubric_version = (select max(rubric_version) from items)
    ),

    found as (
        select eligible.*, ({keys}) as keys
        from listed
        inner join eligible {joined}
    ),

    -- a grade may be on a list more than once: of several assessors, of several label sets
    useful as (
        select any_value(columns(found.* exclude (keys))), max(keys) as keys
        from found
        group by query_id, passage_id, item_id
    ),

    chosen as (
        select
            *,
            row_number() over (order by keys desc, query_id, item_id, passage_id) as position
        from useful
        qualify position <= $size
    )
"""


@dataclass(frozen=True)
class QueueRequest:
    """A queue to be made: at most `size` cards of a `source`, each for `overlap` of the people.

    `grader`: whose grades, or the label set whose pairs are judged; of these only those that some
    system ranked in its first `depth`. `tau`: the grade from which an item counts as answered, or
    the judgment from which a passage is relevant.
    """

    collection: str
    queue: str
    grader: "Reviewable"
    source: str
    tau: int
    size: int
    overlap: int
    assessors: Sequence[str]
    seed: int = 1
    depth: int | None = None
    queries: Sequence[str] | None = None  # of a pool: which, in their order


def pooled(lake: "Lake", request: QueueRequest) -> "list[Card]":
    """What any system ranked in its first `depth` (default: the collection's), query after query,
    in the order of `queries`, else of their ids; within one by `seed`, so that no rank shows."""
    from gradelake.grading.review.cards import Card

    rows = lake.rows(
        _POOL,
        collection=request.collection,
        depth=request.depth,
        queries=request.queries and list(request.queries),
        seed=str(request.seed),
    )
    cards = [
        Card(query_id, passage_id, "", None, None, text) for query_id, passage_id, text, _ in rows
    ]
    return cards[: request.size]


def choose(lake: "Lake", request: QueueRequest) -> "list[Card]":
    """The cards of a queue of grades, the most useful first; of a sample as `deal` draws it."""
    from gradelake.grading.review.cards import ELIGIBLE, Assignment, deal, dealt

    about, grader, size = (request.collection, request.grader), request.grader, request.size
    if request.source == "sample":
        sample = Assignment(*about, "", request.tau, sample=size, seed=request.seed)
        return deal(lake, sample).cards
    mart, keys, joined = _LISTS[request.source]
    parameters: dict[str, Any] = {"tau": request.tau} if "$tau" in joined else {}
    return dealt(
        lake,
        _CHOSEN.format(eligible=ELIGIBLE, mart=mart, keys=keys, joined=joined),
        "",
        again=True,
        collection=request.collection,
        grader=grader.name,
        size=size,
        **grader.for_eligible,
        **parameters,
    ).cards
