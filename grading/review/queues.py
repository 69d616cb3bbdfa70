"""Queues: cards that several people share, chosen once; who is asked for which; what they differ
on, for somebody else to settle."""

from collections.abc import Sequence
from hashlib import md5
from typing import Any

from gradelake.grading.review.cards import AT_ONCE, Card, Deck, Reviewable, Reviewed, find_grader
from gradelake.grading.review.judging import draw, pair_cards, sample_rows
from gradelake.grading.review.queue_sources import choose
from gradelake.grading.review.queue_wish import QueueWish, labels_of
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.judged import mark_as_own
from gradelake.sql.lake.lake import Lake

# dbt's views that queues read, besides those of a review
VIEWS = (
    "intermediate.int_label_sets",
    "intermediate.int_ranked_entries",
    "intermediate.int_review_cards",
    "marts.review_conflicts",
    "marts.review_queues",
    "marts.spurious_items",
    "marts.uncovered_passages",
    "marts.disagreements",
    "marts.relevance_labels",
    "marts.never_covered_items",
)
_BLOCK = 21  # cards that are shuffled among each other: a card's place must not tell its grade

_CARDS = """
    select
        cards.query_id,
        cards.passage_id,
        cards.item_id,
        cards.passage_sha256,
        cards.query_sha256,
        queries.text as query,
        cards.item_text as item,
        cards.grade,
        coalesce(
            nullif(cards.answer, ''), case when cards.gold_sha256 is null then answers.answer end
        ) as answer,
        case reviews.is_agreed when true then 'agree' when false then 'disagree' end as verdict,
        case when not reviews.is_agreed then reviews.reviewed_grade end as own_grade,
        reviews.note,
        reviews.blind_grade,
        reviews.seconds
    from {cards} as cards
    inner join lake.raw.queries as queries using (collection, query_id)
    left join lake.intermediate.int_extracted_answers as answers
        using (collection, query_id, passage_id, item_id)
    left join lake.intermediate.int_grade_reviews as reviews
        on
            cards.collection = reviews.collection
            and cards.grader_id = reviews.grader_id
            and cards.query_id = reviews.query_id
            and cards.passage_id = reviews.passage_id
            and cards.item_id = reviews.item_id
            and cards.grade = reviews.grade
            and reviews.assessor = $assessor
            and reviews.settles = $settles
    where
        cards.collection = $collection
        and cards.queue = $queue
        and cards.assessor = {whose}
    order by cards.position
"""
# cards that all have answered who were asked, differently, and nobody has settled
_CONFLICTS = """
    (
        select any_value(columns(* exclude (position))), position
        from lake.intermediate.int_review_cards as asked
        inner join lake.marts.review_conflicts as conflicts
            using (collection, query_id, passage_id, item_id, grade)
        where
            asked.collection = $collection
            and asked.queue = $queue
            and conflicts.grader = $grader
            and (conflicts.settled_by is null or conflicts.settled_by = $assessor)
            -- whoever said something of it is one of those who differ
            and not exists (
                select 1 from lake.intermediate.int_grade_reviews as said
                where
                    said.assessor = $assessor
                    and not said.settles
                    and said.collection = asked.collection
                    and said.grader_id = asked.grader_id
                    and said.query_id = asked.query_id
                    and said.passage_id = asked.passage_id
                    and said.item_id = asked.item_id
                    and said.grade = asked.grade
            )
            -- whoever is asked for the card, in any queue, answers it blind
            and not exists (
                select 1 from lake.raw.review_cards as own
                where
                    own.assessor = $assessor
                    and own.collection = asked.collection
                    and own.grader_id = asked.grader_id
                    and own.query_id = asked.query_id
                    and own.passage_id = asked.passage_id
                    and own.item_id = asked.item_id
            )
        group by position
        having bool_and(asked.is_answered)
    )
"""


def make_queue(lake: Lake, wish: QueueWish, arguments: Sequence[str]) -> dict[str, Any]:
    """Choose the cards of a queue, and who is asked; commit both. Returns its object of
    `queues_of`.

    Raises `BadInput` for a name that is taken, where the source has nothing, and for somebody whose
    judgments are not their own to give.
    """
    import polars as pl

    _require_new(lake, wish)
    of_pairs = wish.grader.kind == "pair"
    if of_pairs:
        drawn = draw(lake, wish)
        chosen = drawn.cards
    else:
        about = (wish.collection, wish.grader, wish.source, wish.tau, wish.size, wish.seed)
        chosen = choose(lake, *about)
    if not chosen:
        raise BadInput(
            f"there is nothing of {wish.grader.name} to review from {wish.source!r}, with item and "
            "passage in the lake",
            "Choose another --from, or another --tau.",
        )
    cards = shuffled(chosen, wish.seed)
    asked = assign(len(cards), wish.assessors, wish.overlap, wish.seed)
    queue = {
        "collection": wish.collection,
        "queue": wish.queue,
        "grader_id": wish.grader.grader_id,
        "source": wish.source,
        "tau": wish.tau,
        "overlap": wish.overlap,
        "seed": wish.seed,
        "made_at": utc_now(),
        "label_set": wish.grader.name if of_pairs else None,
        "label_names": list(wish.grader.label_names) or None,
    }
    rows = [
        {
            "collection": wish.collection,
            "queue": wish.queue,
            "position": position,
            "query_id": card.query_id,
            "passage_id": card.passage_id,
            "item_id": card.item_id,
            "passage_sha256": card.passage_sha256,
            "query_sha256": card.query_sha256,
            "grader_id": wish.grader.grader_id,
            "assessor": assessor,
        }
        for position, (card, people) in enumerate(zip(cards, asked, strict=True), start=1)
        for assessor in people
    ]
    hashes = {"passage_sha256": pl.String, "query_sha256": pl.String}
    frame = pl.DataFrame(rows, infer_schema_length=None, schema_overrides=hashes)
    with lake.transaction("review", f"queue {wish.collection} {wish.queue}") as transaction:
        _require_new(lake, wish)  # somebody may have made it meanwhile
        transaction.insert("review_queues", pl.DataFrame([queue]))
        transaction.insert("review_cards", frame)
        if of_pairs:
            for assessor in wish.assessors:
                mark_as_own(transaction, wish.collection, assessor)
            samples = sample_rows(wish, drawn, list(zip(cards, asked, strict=True)))
            transaction.delete(
                "review_samples",
                collection=wish.collection,
                assessor=list(wish.assessors),
                sample=samples[0]["sample"],
            )
            transaction.insert("review_samples", pl.DataFrame(samples, infer_schema_length=None))
        transaction.say(cards=len(cards))
        transaction.finish_run(list(arguments))
    return _named(lake, wish.collection, wish.queue)


def remove_queue(lake: Lake, collection: str, queue: str, arguments: Sequence[str]) -> None:
    """Remove a queue; what people answered stays. Raises `BadInput` where there is none."""
    _named(lake, collection, queue)
    with lake.transaction("review", f"queue {collection} {queue}") as transaction:
        transaction.delete("review_cards", collection=collection, queue=queue)
        transaction.delete("review_queues", collection=collection, queue=queue)
        transaction.say(queues_removed=1)
        transaction.finish_run(list(arguments))


def shuffled(cards: Sequence[Card], seed: int) -> list[Card]:
    """The cards, the most useful 21 first, and so on; within these in an order that tells nothing,
    the same for the same seed."""

    def place(numbered: tuple[int, Card]) -> tuple[int, str]:
        n, card = numbered
        ids = (str(seed), card.item_id, card.passage_id, card.query_id)
        return n // _BLOCK, md5("/".join(ids).encode()).hexdigest()

    return [card for _, card in sorted(enumerate(cards), key=place)]


def assign(n_cards: int, assessors: Sequence[str], overlap: int, seed: int) -> list[list[str]]:
    """Who is asked for each card: `overlap` people, those who have the fewest cards so far.

    Of equals an order that the seed gives decides, so that everybody meets everybody; counts
    differ by one at most. The same seed asks the same people.
    """
    counts = dict.fromkeys(assessors, 0)
    asked = []
    for n in range(n_cards):

        def place(name: str, n: int = n) -> tuple[int, str]:
            return counts[name], md5(f"{seed}/{n}/{name}".encode()).hexdigest()

        people = sorted(counts, key=place)[:overlap]
        for name in people:
            counts[name] += 1
        asked.append(sorted(people))
    return asked


def queues_of(lake: Lake, collection: str | None = None) -> list[dict[str, Any]]:
    """The queues (of a collection), oldest first: collection, queue, grader, source, tau, overlap,
    n_cards, n_done, n_conflicts, and `assessors`, each with n_assigned and n_answered."""
    rows = lake.objects(
        "select * exclude (made_at) from lake.marts.review_queues "
        "where ? is null or collection = ?",
        collection,
        collection,
    )
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        person = {key: row.pop(key) for key in ("assessor", "n_assigned", "n_answered")}
        queue = found.setdefault((row["collection"], row["queue"]), row | {"assessors": []})
        queue["assessors"].append(person)
    return list(found.values())


def deal_queue(
    lake: Lake, collection: str, queue: str, assessor: str, again: bool = False
) -> tuple[Reviewable, Deck]:
    """A queue's grader, and the cards that an assessor is asked for, in order; only those that
    they have not answered, unless `again`.

    Raises `BadInput` for a queue that there is not, and for one that asks them for nothing.
    """
    grader, asked = _graded_by_and_asked(lake, collection, queue)
    if assessor not in asked:
        raise BadInput(
            f"queue {queue!r} of {collection} asks nothing of {assessor!r}",
            f"It is for {', '.join(asked)}.",
        )
    if grader.kind == "pair":
        return grader, _deck(pair_cards(lake, collection, queue, assessor), again)
    query = _CARDS.format(cards="lake.intermediate.int_review_cards", whose="$assessor")
    rows = lake.rows(query, collection=collection, queue=queue, assessor=assessor, settles=False)
    return grader, _deck(rows, again)


def deal_conflicts(
    lake: Lake, collection: str, queue: str, assessor: str, again: bool = False
) -> tuple[Reviewable, Deck]:
    """A queue's grader, and the cards on which people differ, for an assessor who was not asked;
    only those that nobody has settled, or with `again` they themselves have.

    Raises `BadInput` for a queue that there is not, and for one of judgments.
    """
    grader, _ = _graded_by_and_asked(lake, collection, queue)
    if grader.kind == "pair":
        raise BadInput(
            f"queue {queue!r} is of judgments, in which people may differ",
            "`gradelake stats alpha` and `gradelake sql @kappa` say how much they do.",
        )
    query = _CARDS.format(cards=_CONFLICTS, whose="cards.assessor")
    whose = {"collection": collection, "queue": queue, "assessor": assessor}
    rows = lake.rows(query, **whose, grader=grader.name, settles=True)
    return grader, _deck(rows, again)


def said_by_others(
    lake: Lake, collection: str, grader: Reviewable, cards: Sequence[Card]
) -> list[list[dict[str, Any]]]:
    """What people say that the grade of each card should be: assessor, grade (null: only that it is
    not right)."""
    found = lake.rows(
        """
        select query_id, passage_id, item_id, grade, assessor, reviewed_grade
        from lake.intermediate.int_grade_reviews
        where
            collection = ?
            and grader_id = ?
            and item_id in (select unnest(?))
            and not settles
        order by assessor
        """,
        collection,
        grader.grader_id,
        sorted({card.item_id for card in cards}),
    )
    said: dict[tuple, list[dict[str, Any]]] = {}
    for *of, assessor, own in found:
        said.setdefault(tuple(of), []).append({"assessor": assessor, "grade": own})
    keys = ((card.query_id, card.passage_id, card.item_id, card.grade) for card in cards)
    return [said.get(key, []) for key in keys]


def _deck(rows: list[tuple], again: bool) -> Deck:
    cards = [Card(*[*row[:9], Reviewed(*row[9:14]) if row[9] else None]) for row in rows]
    left = [card for card in cards if not card.before]
    shown = cards if again else left
    return Deck(shown[:AT_ONCE], len(shown), len(left))


def _graded_by_and_asked(lake: Lake, collection: str, queue: str) -> tuple[Reviewable, list[str]]:
    """A queue's grader, or label set, and people; what `queues_of` counts takes as long as all
    else of dealing does."""
    found = lake.rows(
        """
        select
            graders.grader,
            queues.label_set,
            queues.label_names,
            list(distinct cards.assessor order by cards.assessor)
        from lake.raw.review_queues as queues
        inner join lake.raw.review_cards as cards using (collection, queue)
        left join lake.intermediate.int_own_graders as graders
            on queues.grader_id = graders.grader_id
        where
            queues.collection = ?
            and queues.queue = ?
            and coalesce(graders.grader, queues.label_set) is not null
        group by all
        """,
        collection,
        queue,
    )
    if not found:
        raise _not_there(lake, collection, queue)
    ((grader, label_set, names, asked),) = found
    if label_set:
        return labels_of(lake, collection, label_set, names), asked
    return find_grader(lake, grader), asked


def _named(lake: Lake, collection: str, queue: str) -> dict[str, Any]:
    for one in queues_of(lake, collection):
        if one["queue"] == queue:
            return one
    raise _not_there(lake, collection, queue)


def _not_there(lake: Lake, collection: str, queue: str) -> NotThere:
    """What to say; raises `BadInput` where the collection is not there either."""
    lake.require_collection(collection)
    known = [one["queue"] for one in queues_of(lake, collection)]
    return NotThere(f"{collection} has no queue {queue!r}", did_you_mean(queue, known))


def _require_new(lake: Lake, wish: QueueWish) -> None:
    there = "select 1 from lake.raw.review_queues where collection = ? and queue = ?"
    if lake.rows(there, wish.collection, wish.queue):
        raise BadInput(
            f"{wish.collection} has a queue {wish.queue!r}", "Choose another name, or remove it."
        )
