"""Which grades a person is shown: whose, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from gradelake.grading.plan.planner import check_queries
from gradelake.grading.review.revise import Review, ReviewAnswer, ReviewKey, Undo
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.judgment_kinds import JudgmentKind, judgment_kinds
from gradelake.sql.common.project import TO_GRADE, did_you_mean
from gradelake.sql.lake.opening import Lake

# dbt's views that a review reads; they are always as new as the raw tables
VIEWS = (
    "intermediate.int_extracted_answers",
    "intermediate.int_grade_reviews",
    "intermediate.int_assessor_grades",
    "intermediate.int_left_out_passages",
    "marts.wanted_items",
    "marts.review_agreement",
    "marts.assessor_agreement",
    "marts.assessor_alpha",
    "marts.battle_agreement",
)
ANSWERED = 4  # the grade from which an item counts as answered, unless another is asked for
AT_ONCE = 2_000  # cards: more than anybody reviews without a pause

_MEANINGS = {
    (0, 1): ("no", "yes"),
    (0, 2): ("not at all", "in part", "fully"),
    (0, 5): ("not at all", "hardly", "in part", "with gaps", "well", "fully"),
}

# what can be reviewed: a grader's grades on items of its kind in the rubric's newest version, or on
# sentences of answers, or on answers that battle, with item and passage in the lake
ELIGIBLE = """
    items as (
        select
            query_id,
            item_id,
            text as item,
            rubric_version,
            case when $needs_gold_answers then gold_sha256 end as gold_sha256
        from lake.marts.wanted_items
        inner join lake.intermediate.judgment_kinds as kinds using (kind)
        where collection = $collection and kind = $kind and text is not null
            and (kinds.items <> 'rubric' or rubric_version = (
                select max(rubric_version) from lake.marts.wanted_items
                where collection = $collection
            ))
    ),

    eligible as (
        select
            grades.*,
            items.item
        from lake.intermediate.int_grades_in_force as grades
        inner join items using (query_id, item_id)
        semi join lake.raw.passages using (collection, passage_id)
        anti join lake.intermediate.int_left_out_passages using (collection, passage_id)
        where
            grades.collection = $collection
            and grades.grader_id = $grader_id
            and grades.grade is not null
            and grades.gold_sha256 is not distinct from items.gold_sha256
    )
"""

# the grades of an assignment. Their places: of each grade in turn, the higher the more often. In
# every 21 cards of a scale of 0 to 5, while there are any, 6 have a grade of 5, 5 a 4, and 1 a 0
_ASSIGNED = f"""
    {ELIGIBLE},

    wanted as (
        select
            *,
            row_number() over (
                partition by grade
                order by md5(concat_ws('/', $seed, query_id, passage_id, item_id))
            ) as nth
        from eligible
        where
            ($tau is null or grade >= $tau)
            and ($query_id is null or query_id = $query_id)
            and (
                $item_id is null
                or item_id = $item_id
                or starts_with(split_part(item_id, '/', -1), $item_id)
            )
    ),

    chosen as (
        select
            *,
            row_number() over (
                order by (nth - 0.5) / (grade - $scale_min + 1), grade desc, nth
            ) as position
        from wanted
        qualify $sample is null or position <= $sample
    )
"""

# the cards of whatever is `chosen`, with the assessor's review of each: where there is no item, it
# is their judgment of the passage
_CARDS = """
    with

    {chosen},

    reviews as (
        select *
        from lake.intermediate.int_grade_reviews
        where
            assessor = $assessor
            and ($settles is null or settles = $settles)
        union all by name
        select
            judgments.collection,
            '' as grader_id,
            judgments.query_id,
            judgments.passage_id,
            '' as item_id,
            judgments.relevance as reviewed_grade,
            reviews.note,
            reviews.blind_grade,
            reviews.seconds,
            false as settles,
            reviews.reviewed_at
        from lake.raw.judgments as judgments
        left join (
            select * from lake.raw.grade_reviews
            where grader_id = '' and item_id = ''
        ) as reviews using (collection, query_id, passage_id, assessor)
        where judgments.assessor = $assessor
    ),

    cards as materialized (
        select
            chosen.query_id,
            chosen.passage_id,
            chosen.item_id,
            chosen.passage_sha256,
            chosen.query_sha256,
            queries.text as query,
            chosen.item,
            chosen.grade,
            coalesce(
                nullif(chosen.answer, ''),
                case when chosen.gold_sha256 is null then answers.answer end
            ) as answer,
            case coalesce(
                reviews.is_agreed,
                reviews.reviewed_grade = chosen.grade,
                if(reviews.reviewed_grade is null, null, false)
            )
                when true then 'agree' when false then 'disagree'
            end as verdict,
            nullif(reviews.reviewed_grade, chosen.grade) as own_grade,
            reviews.note,
            reviews.blind_grade,
            reviews.seconds,
            nullif(reviews.settles, false) as settles,
            reviews.reviewed_at,
            queries.description,
            queries.narrative,
            chosen.position
        from chosen
        inner join lake.raw.queries as queries using (collection, query_id)
        left join lake.intermediate.int_extracted_answers as answers
            using (collection, grader_id, query_id, passage_id, item_id)
        left join reviews
            on
                chosen.collection = reviews.collection
                and chosen.grader_id = reviews.grader_id
                and chosen.query_id = reviews.query_id
                and chosen.passage_id = reviews.passage_id
                and chosen.item_id = reviews.item_id
                and (reviews.grade is null or chosen.grade = reviews.grade)
    ),

    shown as (
        select * from cards
        where $again or verdict is null
    ),

    counts as (  -- DuckDB 1.5.5 breaks off at `count(*) over ()` now and then (duckdb#22846)
        select count(*) as n_cards, count(*) filter (where verdict is null) as n_left
        from shown
    )

    select shown.* exclude (position), counts.*
    from shown
    cross join counts
    -- blind, a card's place must not tell its grade: each 21 are shuffled, for everybody alike
    order by
        case when $shuffle is not null then (shown.position - 1) // 21 end,
        case
            when $shuffle is not null
                then md5(concat_ws('/', $shuffle, shown.item_id, shown.passage_id, shown.query_id))
        end,
        shown.position
    limit $at_once
"""


@dataclass(frozen=True)
class Reviewable:
    """A grader whose grades can be reviewed, as the lake knows it; or a label set, beside whose
    labels people judge whole passages, which has no `grader_id` ('')."""

    name: str
    grader_id: str
    kind: str  # of judgment, as in grading/kinds; pair: judgments of whole passages
    needs_gold_answers: bool
    scale_min: int
    scale_max: int
    label_names: tuple[str, ...] = ()  # of a scale of judgments, the lowest first
    relevant_from: int | None = None

    @property
    def scale(self) -> range:
        return range(self.scale_min, self.scale_max + 1)

    @property
    def for_eligible(self) -> dict[str, Any]:
        """What `ELIGIBLE` is to be told of it."""
        names = ("grader_id", "kind", "needs_gold_answers")
        return {name: getattr(self, name) for name in names}

    @property
    def what(self) -> str:
        """What people give."""
        return "judgment" if self.kind == "pair" else "grade"

    @property
    def judgment(self) -> JudgmentKind:
        """What people judge."""
        return judgment_kinds()["passage" if self.kind == "pair" else self.kind]

    @property
    def for_cards(self) -> dict[str, object]:
        """What gradelake/serve/static/card.js shows of it."""
        return {
            "words": dict(self.judgment.words),
            "is_of_two": bool(self.judgment.verdicts),
            "shows_topic": self.judgment.shows_topic,
            "what": self.what,
            "scale": list(self.scale),
            "names": list(self.label_names or self._meanings),
            "hint": self.hint,
        }

    @property
    def _meanings(self) -> tuple[str, ...]:
        """What each grade of an item says of how well a passage answers or covers it; nothing for
        a scale without usual words, and for labels."""
        usual = () if self.kind == "pair" else _MEANINGS.get((self.scale_min, self.scale_max), ())
        return self.judgment.verdicts or usual

    @property
    def hint(self) -> str:
        """What else they should know of the scale of judgments, in words; '' for grades."""
        return "" if self.relevant_from is None else f"relevant from {self.relevant_from} on"

    def turns(self, card: "Card", assessor: str) -> bool:
        """Whether this person sees the two answers of a battle the other way round than the judge:
        drawn for each person and battle. What they say is kept as of the judge's order."""
        drawn = "/".join((assessor, card.query_id, card.passage_id, card.item_id))
        return bool(self.judgment.verdicts) and md5(drawn.encode()).hexdigest() < "8"


def turned(grade: int | None) -> int | None:
    """A verdict on two answers, of the same two the other way round."""
    return 3 - grade if grade in (0, 3) else grade


@dataclass(frozen=True)
class Card:
    """One grade with what it was given for, and the assessor's review of it so far.

    A card that asks for a judgment has no item (`item_id` ''), and a label as its `grade`.
    """

    query_id: str
    passage_id: str
    item_id: str
    passage_sha256: str | None
    query_sha256: str | None
    query: str
    item: str | None = None
    grade: int | None = None  # None: nothing has graded it
    answer: str | None = None
    before: Review | None = None
    description: str | None = None  # of the query
    narrative: str | None = None

    def answered(
        self,
        opinion: int | None,
        note: str | None,
        seconds: float | None,
        is_blind: bool,
        settles: bool,
    ) -> ReviewAnswer:
        """An answer to it. What nothing has graded is agreed with, and never blind: there is
        nothing to see."""
        if self.grade is not None:
            return ReviewAnswer(self.grade, opinion, note, seconds, is_blind, settles)
        assert opinion is not None
        return ReviewAnswer(opinion, opinion, note, seconds, False, settles)

    def undone(self, is_blind: bool, before: Review | None = None) -> Undo:
        """Its answer taken back."""
        return Undo(self.grade, is_blind and self.grade is not None, before)

    def key(self, collection: str, grader_id: str, assessor: str) -> ReviewKey:
        """What an assessor's review of it is known by."""
        return ReviewKey(grader_id=grader_id, collection=collection, assessor=assessor, **self.ids)

    @property
    def ids(self) -> dict[str, Any]:
        """What it is about: query, passage and item, and the texts that were graded."""
        names = ("query_id", "passage_id", "item_id", "passage_sha256", "query_sha256")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Assignment:
    collection: str
    grader: Reviewable
    assessor: str
    tau: int
    only_answered: bool = False
    query_id: str | None = None
    item_id: str | None = None
    sample: int | None = None
    seed: int = 1
    again: bool = False  # also what the assessor has reviewed
    blind: bool = False  # they grade before they see the grade
    settles: bool | None = None  # what others differ on


@dataclass(frozen=True)
class Deck:
    """The cards to show (at most `AT_ONCE`), how many there would be, and how many of these were
    not reviewed."""

    cards: list[Card]
    n_cards: int
    n_left: int


def find_grader(lake: Lake, name: str) -> Reviewable:
    """A grader of rubric items by its name in the marts. Raises `BadInput` for any other."""
    rows = lake.rows(
        "select grader, kind, target, grader_id, asks_about, needs_gold_answers, scale_min, "
        "scale_max from lake.marts.graders where engine != 'ensemble'"
    )
    known = {row[0]: row for row in rows}
    if name not in known:
        raise BadInput(
            f"the lake has no grades of a grader {name!r}",
            did_you_mean(
                name,
                [row[0] for row in rows if row[1]],
                f"{TO_GRADE} An ensemble has no grades of its own: review those of its members.",
            ),
        )
    _, kind, target, *about = known[name]
    if kind is None:
        raise BadInput(
            f"{name} does not grade rubric items (its prompt's target is {target!r})",
            "Judges of whole passages are compared with people's judgments: see `gradelake export "
            "qrels --sample` and `gradelake sql @kappa`.",
        )
    return Reviewable(name, *about)


def choose_tau(lake: Lake, grader: Reviewable, asked: int | None) -> int:
    """The grade from which an item counts as answered: what was asked for, else 4, or the top of
    the scale where that is lower. Raises `BadInput` for one that marts are not computed at."""
    levels = lake.column("select level from lake.intermediate.evaluation_levels")
    tau = min(ANSWERED, grader.scale_max) if asked is None else asked
    if tau not in levels:
        raise BadInput(
            f"--tau {tau}: marts are computed at {', '.join(map(str, sorted(levels)))}",
            "seeds/evaluation_levels.csv says at which.",
        )
    return tau


def deal(lake: Lake, assignment: Assignment) -> Deck:
    """The cards in order, the same for the same seed and grades, whoever reviews.

    A sample is drawn from all grades, reviewed ones included: called again with the same seed, it
    goes on with the rest of it. Grades whose item or passage has no text in the lake are left out.
    Raises `BadInput` when the lake has nothing of what is asked for.
    """
    query_ids = (assignment.query_id,) if assignment.query_id is not None else None
    check_queries(lake, assignment.collection, query_ids)
    grader = assignment.grader
    names = ("collection", "query_id", "item_id", "sample")
    parameters = grader.for_eligible | {name: getattr(assignment, name) for name in names}
    parameters |= {
        "scale_min": grader.scale_min,
        "tau": assignment.tau if assignment.only_answered else None,
        "seed": str(assignment.seed),
    }
    shuffle = str(assignment.seed) if assignment.blind else None
    who, again = assignment.assessor, assignment.again
    deck = dealt(lake, _ASSIGNED, who, again, shuffle=shuffle, **parameters)
    if not (deck.cards or again or dealt(lake, _ASSIGNED, who, True, **parameters).cards):
        raise BadInput(
            f"there is nothing to review: {grader.name} has no such grades on the newest "
            f"rubric of {assignment.collection}, with item and passage in the lake",
            f"`gradelake plan {assignment.collection}` says what is graded.",
        )
    return deck


def dealt(
    lake: Lake,
    chosen: str,
    assessor: str,
    again: bool,
    *,
    settles: bool | None = None,
    shuffle: str | None = None,
    **parameters: Any,
) -> Deck:
    """The cards of the common table expression `chosen`: the grades and their `position`. Those
    that the assessor has reviewed are left out, unless `again`. `settles`: only reviews that do, or
    do not. `shuffle`: the seed by which cards that are close to each other change places."""
    parameters |= {"assessor": assessor, "again": again, "settles": settles}
    parameters |= {"shuffle": shuffle, "at_once": AT_ONCE}
    rows = lake.rows(_CARDS.format(chosen=chosen), **parameters)
    cards = [
        Card(*[*row[:9], Review(*[row[7], *row[9:16]]) if row[9] else None, *row[16:18]])
        for row in rows
    ]
    return Deck(cards, *(rows[0][-2:] if rows else (0, 0)))


def passage_texts(lake: Lake, collection: str, cards: Sequence[Card]) -> dict[str, tuple[str, str]]:
    """passage_id -> (text, its hash), of the passages that are in the lake."""
    rows = lake.rows(
        "select passage_id, text, text_sha256 from lake.raw.passages "
        "where collection = ? and passage_id in (select unnest(?)) order by passage_id",
        collection,
        sorted({card.passage_id for card in cards}),
    )
    return {passage_id: (text, sha256) for passage_id, text, sha256 in rows}
