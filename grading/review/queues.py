"""Queues: cards that several people share, chosen once; who is asked for which; what they differ
on, for somebody else to settle."""

from collections.abc import Sequence
from hashlib import md5
from typing import Any

from gradelake.grading.plan.planner import ensure_views
from gradelake.grading.review.cards import VIEWS as REVIEW_VIEWS
from gradelake.grading.review.cards import Card, Deck, Reviewable, dealt, find_grader
from gradelake.grading.review.judging import draw, sample_rows
from gradelake.grading.review.queue_request import labels_of, request_for
from gradelake.grading.review.queue_sources import POOL, QueueRequest, choose, pooled
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.counted import counted
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.project import Project, did_you_mean
from gradelake.sql.lake.judged import mark_as_own
from gradelake.sql.lake.opening import Lake
from gradelake.sql.shown.kinds import shown

# dbt's views that queues read, besides those of a review
VIEWS = (
    "marts.label_sets",
    "marts.rankings",
    "intermediate.int_rankings",
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

_OF_QUEUE = """
    asked as (
        select *, item_text as item from lake.intermediate.int_review_cards
        where collection = $collection and queue = $queue {who}
    ),
"""
# what an assessor is asked for
_ASKED = f"""
    {_OF_QUEUE.format(who="and assessor = $assessor")}

    -- of more than are dealt at once those around the first that is open
    chosen as (
        select * from asked
        where position >= (
            select if(count(*) <= $at_once, 0, coalesce(min(position) filter (not is_answered), 0))
            from asked
        ) - 50
    )
"""
# cards that all have answered who were asked, differently, and nobody has settled
_CONFLICTS = f"""
    {_OF_QUEUE.format(who="")}

    conflicts as (
        select * from lake.marts.review_conflicts
        where
            collection = $collection
            and grader = $grader
            and (settled_by is null or settled_by = $assessor)
    ),

    -- whoever reviewed it is one of those who differ
    differing as (
        select * from lake.intermediate.int_grade_reviews
        where assessor = $assessor and not settles
    ),

    -- whoever is asked for the card, in any queue, answers it blind
    own as (
        select * from lake.raw.review_cards
        where assessor = $assessor
    ),

    chosen as (
        select
            any_value(columns(asked.* exclude (position))),
            asked.position
        from asked
        semi join conflicts using (collection, query_id, passage_id, item_id, grade)
        anti join differing using (collection, grader_id, query_id, passage_id, item_id, grade)
        anti join own using (collection, grader_id, query_id, passage_id, item_id)
        group by asked.position
        having bool_and(asked.is_answered)
    )
"""
# of those who are asked, before they saw the grader's; of a battle with the judge, too
_AGREEMENT = """
    select assessor, other_assessor, n_graded as n_both, n_same, kappa, false as is_battle
    from lake.marts.assessor_agreement
    where collection = $collection and grader = $grader and tau = $tau and reveal = 'before'
        and list_contains($who, assessor) and list_contains($who, other_assessor)
        and grader not in (select grader from lake.marts.battle_agreement)
    union all
    select assessor, coalesce(other_assessor, grader), n_battles, n_same, kappa, true
    from lake.marts.battle_agreement
    where collection = $collection and grader = $grader and reveal = 'before'
        and list_contains($who, assessor)
        and (other_assessor is null or list_contains($who, other_assessor))
    order by all
"""


def add_queue(
    project: Project, arguments: Sequence[str], collection: str, name: str, **options: Any
) -> dict[str, Any]:
    """Make a queue of what `request_for` takes, and return its object of `queues_of`.

    Raises `BadInput` as `request_for` does, for a name that is taken, where the source has nothing,
    and for somebody whose judgments are not their own to give.
    """
    with Lake.writer(project) as lake:
        lake.require_collection(collection)
        ensure_views(lake, REVIEW_VIEWS + VIEWS)
        if lake.has_done(arguments):
            for queue in queues_of(lake, collection):
                if queue["queue"] == name:
                    return queue
        return _made(lake, request_for(lake, collection, name, **options), arguments)


def drop_queue(project: Project, arguments: Sequence[str], collection: str, name: str) -> None:
    """Remove a queue; what people answered stays. Raises `BadInput` where there is none."""
    with Lake.writer(project) as lake:
        ensure_views(lake, VIEWS)
        known = {each["queue"] for each in queues_of(lake, collection)}
        if name not in known and lake.has_done(arguments):
            return
        _queue_of(lake, collection, name)
        with lake.transaction("review", f"queue {collection} {name}") as transaction:
            for table in ("review_cards", "review_queues"):
                transaction.delete(table, collection=collection, queue=name)
            transaction.say(queues_removed=1)
            transaction.finish_run(list(arguments))


def list_queues(project: Project, collection: str | None) -> list[dict[str, Any]]:
    """Return what `queues_of` finds now, and of each queue the `agreement` of people (and, of
    battles, the judge). Raises `BadInput` for an unknown collection."""
    with Lake.writer(project) as lake:
        ensure_views(lake, REVIEW_VIEWS + VIEWS)
        if collection:
            lake.require_collection(collection)
        found = queues_of(lake, collection)
        return [queue | {"agreement": agreement_of(lake, queue)} for queue in found]


def agreement_of(lake: Lake, queue: dict[str, Any]) -> list[dict[str, Any]]:
    """How well those who are asked in an object of `queues_of` agree, two a row, and in `words`."""
    about = {name: queue[name] for name in ("collection", "grader", "tau")}
    found = lake.objects(_AGREEMENT, **about, who=[one["assessor"] for one in queue["assessors"]])
    for one in found:
        what = f"grade; kappa from grade {queue['tau']} on"
        if one.pop("is_battle"):
            what = "verdict; kappa"
        kappa = shown("kappa", one["kappa"])
        one["words"] = (
            f"{one['assessor']} and {one['other_assessor']} gave {one['n_same']:,} of "
            f"{counted(one['n_both'], 'cards')} of {queue['grader']} the same {what}: {kappa}"
        )
    return found


def _made(lake: Lake, request: QueueRequest, arguments: Sequence[str]) -> dict[str, Any]:
    """Choose the cards of a queue, and who is asked; commit both."""
    _require_new(lake, request)
    of_pool = request.source == POOL
    is_judged = request.grader.kind == "pair"
    drawn = draw(lake, request) if is_judged and not of_pool else None
    chosen = list(drawn.strata) if drawn else (pooled if of_pool else choose)(lake, request)
    if not chosen:
        raise BadInput(
            f"there is nothing of {request.grader.name} to review from {request.source!r}, with "
            "item and passage in the lake",
            "Choose another --from, or another --tau.",
        )
    cards = chosen if of_pool else shuffled(chosen, request.seed)
    # of the pool whole queries go to people
    shared = [card.query_id if of_pool else n for n, card in enumerate(cards)]
    parts = list(dict.fromkeys(shared))
    shares = assign(len(parts), request.assessors, request.overlap, request.seed)
    people_of = dict(zip(parts, shares, strict=True))
    asked = [people_of[part] for part in shared]
    about = {name: getattr(request, name) for name in ("collection", "queue")}
    about["grader_id"] = request.grader.grader_id
    queue = {name: getattr(request, name) for name in ("source", "tau", "overlap", "seed")} | {
        "made_at": utc_now(),
        "label_set": request.grader.name if is_judged else None,
        "label_names": list(request.grader.label_names) or None,
    }
    rows = [
        about | card.ids | {"position": position, "assessor": assessor}
        for position, (card, people) in enumerate(zip(cards, asked, strict=True), start=1)
        for assessor in people
    ]
    with lake.transaction("review", f"queue {request.collection} {request.queue}") as transaction:
        _require_new(lake, request)  # somebody may have made it meanwhile
        transaction.insert("review_queues", [about | queue])
        transaction.insert("review_cards", rows)
        if is_judged:
            for assessor in request.assessors:
                mark_as_own(transaction, request.collection, assessor)
        if drawn:
            samples = sample_rows(request, drawn, list(zip(cards, asked, strict=True)))
            transaction.delete(
                "review_samples",
                collection=request.collection,
                assessor=list(request.assessors),
                sample=samples[0]["sample"],
            )
            transaction.insert("review_samples", samples)
        transaction.say(cards=len(cards))
        transaction.finish_run(list(arguments))
    return _queue_of(lake, request.collection, request.queue)


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
    deck = dealt(lake, _ASKED, assessor, again, settles=False, collection=collection, queue=queue)
    return grader, deck


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
    about: dict[str, Any] = {"collection": collection, "queue": queue, "grader": grader.name}
    return grader, dealt(lake, _CONFLICTS, assessor, again, settles=True, **about)


def others_opinions(
    lake: Lake, collection: str, grader: Reviewable, cards: Sequence[Card]
) -> list[list[dict[str, Any]]]:
    """What people say that the grade of each card should be: assessor, grade (null: only that it is
    not right)."""
    found = lake.rows(
        """
        select
            query_id,
            passage_id,
            item_id,
            grade,
            list({'assessor': assessor, 'grade': reviewed_grade} order by assessor)
        from lake.intermediate.int_grade_reviews
        where
            collection = ?
            and grader_id = ?
            and item_id in (select unnest(?))
            and not settles
        group by all
        """,
        collection,
        grader.grader_id,
        sorted({card.item_id for card in cards}),
    )
    opinions = {tuple(card): said for *card, said in found}
    keys = ((card.query_id, card.passage_id, card.item_id, card.grade) for card in cards)
    return [opinions.get(key, []) for key in keys]


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
        left join lake.marts.graders as graders
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


def _queue_of(lake: Lake, collection: str, queue: str) -> dict[str, Any]:
    for one in queues_of(lake, collection):
        if one["queue"] == queue:
            return one
    raise _not_there(lake, collection, queue)


def _not_there(lake: Lake, collection: str, queue: str) -> NotThere:
    """What to say; raises `BadInput` where the collection is not there either."""
    lake.require_collection(collection)
    known = [one["queue"] for one in queues_of(lake, collection)]
    hint = did_you_mean(queue, known, "There is none yet. `gradelake queue add` makes one.")
    return NotThere(f"{collection} has no queue {queue!r}", hint)


def _require_new(lake: Lake, request: QueueRequest) -> None:
    there = "select 1 from lake.raw.review_queues where collection = ? and queue = ?"
    if lake.rows(there, request.collection, request.queue):
        raise BadInput(
            f"{request.collection} has a queue {request.queue!r}",
            "Choose another name, or remove it.",
        )
