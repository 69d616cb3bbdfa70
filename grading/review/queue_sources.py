"""A queue to be made, and what its cards are chosen from: all grades, or a verification list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradelake.grading.review.cards import Card, Reviewable
    from gradelake.sql.lake.opening import Lake

# source -> what it finds of the eligible grades, and in which order these are useful
_LISTS = {
    # answers that items find in passages that people judged non-relevant
    "spurious": """
        select eligible.*, spurious.rate as first_key, spurious.n_hits as second_key
        from lake.marts.spurious_items as spurious
        inner join eligible using (query_id, item_id)
        semi join (
            select judgments.query_id, judgments.passage_id
            from lake.raw.judgments as judgments
            inner join lake.raw.collections as collections using (collection)
            where
                judgments.collection = $collection
                and judgments.relevance < collections.min_relevant
        ) as non_relevant using (query_id, passage_id)
        where
            spurious.collection = $collection
            and spurious.grader = $grader
            and spurious.rubric_version = (select max(rubric_version) from items)
            and spurious.tau = $tau
            and eligible.grade >= $tau
    """,
    # the best grades of passages that people judged relevant, and that no item covers
    "uncovered": """
        select eligible.*, uncovered.judgment as first_key, uncovered.best_grade as second_key
        from lake.marts.uncovered_passages as uncovered
        inner join eligible
            on
                uncovered.query_id = eligible.query_id
                and uncovered.passage_id = eligible.passage_id
                and uncovered.best_item_id = eligible.item_id
        where
            uncovered.collection = $collection
            and uncovered.grader = $grader
            and uncovered.rubric_version = (select max(rubric_version) from items)
            and uncovered.tau = $tau
    """,
    # the grades that make the labels farthest from people's judgments
    "disagreements": """
        select eligible.*, disagreements.gap as first_key, eligible.grade as second_key
        from lake.marts.disagreements as disagreements
        inner join eligible
            on
                disagreements.query_id = eligible.query_id
                and disagreements.passage_id = eligible.passage_id
                and disagreements.best_item_id = eligible.item_id
        where
            disagreements.collection = $collection
            and disagreements.grader = $grader
            and disagreements.rubric_version = (select max(rubric_version) from items)
    """,
    # the best grade of each item that no passage answers
    "never-covered": """
        select eligible.*, eligible.grade as first_key, never.n_graded as second_key
        from lake.marts.never_covered_items as never
        inner join eligible using (query_id, item_id)
        where
            never.collection = $collection
            and never.grader = $grader
            and never.rubric_version = (select max(rubric_version) from items)
            and never.tau = $tau
        qualify 1 = row_number() over (
            partition by eligible.query_id, eligible.item_id
            order by eligible.grade desc, eligible.passage_id
        )
    """,
}
OF_GRADES = ("sample", *_LISTS)
OF_PAIRS = ("estimate", "sample")  # of a label set, to be judged
SOURCES = tuple(dict.fromkeys((*OF_GRADES, *OF_PAIRS)))
_CHOSEN = """
    {eligible},

    found as ({source}),

    -- a grade may be on a list more than once: of several assessors, of several label sets
    useful as (
        select
            any_value(columns(found.* exclude (first_key, second_key))),
            max((first_key, second_key)) as keys
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


def choose(lake: "Lake", request: QueueRequest) -> "list[Card]":
    """The cards of a queue of grades, the most useful first; of a sample as `deal` draws it."""
    from gradelake.grading.review.cards import ELIGIBLE, Assignment, deal, dealt

    about, grader, size = (request.collection, request.grader), request.grader, request.size
    if request.source == "sample":
        sample = Assignment(*about, "", request.tau, sample=size, seed=request.seed)
        return deal(lake, sample).cards
    source = _LISTS[request.source]
    parameters: dict[str, Any] = {"tau": request.tau} if "$tau" in source else {}
    return dealt(
        lake,
        _CHOSEN.format(eligible=ELIGIBLE, source=source),
        "",
        again=True,
        collection=request.collection,
        grader=grader.name,
        size=size,
        **grader.for_eligible,
        **parameters,
    ).cards
