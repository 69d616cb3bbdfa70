"""Which grades a person is shown: whose, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass

from gradelake.grading.plan.planner import check_queries
from gradelake.sql.common.errors import BadInput
from gradelake.sql.common.project import did_you_mean
from gradelake.sql.lake.lake import Lake

# dbt's views that a review reads; they are always as new as the raw tables
VIEWS = (
    "intermediate.int_distinct_items",
    "intermediate.int_extracted_answers",
    "intermediate.int_grade_reviews",
    "intermediate.int_assessor_grades",
    "intermediate.int_left_out_passages",
    "marts.review_agreement",
    "marts.assessor_agreement",
    "marts.assessor_alpha",
)
ANSWERED = 4  # the grade from which an item counts as answered, unless another is asked for
AT_ONCE = 2_000  # cards: more than anybody reviews without a pause

# what can be reviewed: a grader's grades on items of its kind in the rubric's newest version, or on
# sentences of answers, with item and passage in the lake
ELIGIBLE = """
    items as (
        select
            query_id,
            item_id,
            item_text as item,
            rubric_version,
            case when $needs_gold_answers then gold_sha256 end as gold_sha256
        from lake.intermediate.int_distinct_items
        where
            collection = $collection
            and kind = $kind
            and item_text is not null
            and rubric_version = (
                select max(rubric_version) from lake.intermediate.int_distinct_items
                where collection = $collection
            )
        union all
        select distinct
            query_id,
            item_id,
            text as item,
            0 as rubric_version,
            null as gold_sha256
        from lake.raw.sentences
        where collection = $collection and $kind = 'sentence'
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

# A grade's place: of each grade in turn, the higher the more often. In every 21 cards of a scale
# of 0 to 5, as long as there are any, 6 have a grade of 5, 5 a 4, and 1 a 0.
_DECK = f"""
    with

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

    ordered as (
        select
            *,
            row_number() over (
                order by (nth - 0.5) / (grade - $scale_min + 1), grade desc, nth
            ) as position
        from wanted
    ),

    reviews as (
        select * from lake.intermediate.int_grade_reviews
        where assessor = $assessor
    ),

    drawn as (
        select
            ordered.*,
            case reviews.is_agreed when true then 'agree' when false then 'disagree' end as verdict,
            case when not reviews.is_agreed then reviews.reviewed_grade end as own_grade,
            reviews.note,
            reviews.blind_grade,
            reviews.seconds
        from ordered
        left join reviews using (collection, grader_id, query_id, passage_id, item_id, grade)
        where $sample is null or ordered.position <= $sample
    ),

    cards as materialized (
        select
            query_id,
            passage_id,
            item_id,
            drawn.passage_sha256,
            drawn.query_sha256,
            queries.text as query,
            drawn.item,
            drawn.grade,
            coalesce(
                nullif(drawn.answer, ''),
                case when drawn.gold_sha256 is null then answers.answer end
            ) as answer,
            drawn.verdict,
            drawn.own_grade,
            drawn.note,
            drawn.blind_grade,
            drawn.seconds,
            drawn.position
        from drawn
        inner join lake.raw.queries as queries using (collection, query_id)
        left join lake.intermediate.int_extracted_answers as answers
            using (collection, query_id, passage_id, item_id)
        where $again or drawn.verdict is null
    ),

    counts as (  -- DuckDB 1.5.5 breaks off at `count(*) over ()` now and then (duckdb#22846)
        select count(*) as n_cards, count(*) filter (where verdict is null) as n_left
        from cards
    )

    select cards.* exclude (position), counts.*
    from cards
    cross join counts
    -- blind, a card's place must not tell its grade: each 21 are shuffled, for everybody alike
    order by
        case when $blind then (cards.position - 1) // 21 end,
        case
            when $blind
                then md5(concat_ws('/', $seed, cards.item_id, cards.passage_id, cards.query_id))
        end,
        cards.position
"""


@dataclass(frozen=True)
class Reviewable:
    """A grader whose grades can be reviewed, as the lake knows it; or a label set, beside whose
    labels people judge whole passages, which has no `grader_id` ('')."""

    name: str
    grader_id: str
    kind: str  # question or nugget; pair: judgments of whole passages
    needs_gold_answers: bool
    scale_min: int
    scale_max: int
    label_names: tuple[str, ...] = ()  # of a scale of judgments, the lowest first
    relevant_from: int | None = None

    @property
    def scale(self) -> range:
        return range(self.scale_min, self.scale_max + 1)

    @property
    def what(self) -> str:
        """What people give."""
        return "judgment" if self.kind == "pair" else "grade"

    @property
    def for_cards(self) -> dict[str, object]:
        """What grading/review/form/card.js is told of it."""
        return {
            "what": self.what,
            "scale": list(self.scale),
            "names": list(self.label_names),
            "hint": self.hint,
        }

    @property
    def hint(self) -> str:
        """What else they should know of the scale of judgments, in words; '' for grades."""
        return "" if self.relevant_from is None else f"relevant from {self.relevant_from} on"


@dataclass(frozen=True)
class Reviewed:
    """What somebody said of a grade. `own_grade`: of who disagrees and says what it should be."""

    verdict: str  # agree, disagree
    own_grade: int | None = None
    note: str | None = None
    blind_grade: int | None = None  # theirs before the grader's was shown
    seconds: float | None = None  # spent on the card until then
    settles: bool | None = None  # what others differ on


@dataclass(frozen=True)
class Card:
    """One grade with what it was given for; `before` is what the assessor said of it already.

    A card that asks for a judgment has no item (`item_id` ''), and a label as its `grade`.
    """

    query_id: str
    passage_id: str
    item_id: str
    passage_sha256: str | None
    query_sha256: str | None
    query: str
    item: str | None
    grade: int
    answer: str | None
    before: Reviewed | None


@dataclass(frozen=True)
class Wish:
    """What is to be reviewed, by whom."""

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
        "select grader, kind, target, grader_id, kind, needs_gold_answers, scale_min, scale_max "
        "from lake.intermediate.int_own_graders"
    )
    known = {row[0]: row for row in rows}
    if name not in known:
        raise BadInput(
            f"the lake has no grades of a grader {name!r}",
            did_you_mean(name, [row[0] for row in rows if row[1]])
            or "An ensemble has no grades of its own: review those of its members.",
        )
    _, kind, target, *about = known[name]
    if kind is None:
        raise BadInput(
            f"{name} does not grade rubric items (its prompt's target is {target!r})",
            "Judges of whole passages are compared with people's judgments: see `gradelake export "
            "sample` and `gradelake sql @kappa`.",
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


def deal(lake: Lake, wish: Wish) -> Deck:
    """The cards in order, the same for the same seed and grades, whoever reviews.

    A sample is drawn from all grades, reviewed ones included: called again with the same seed, it
    goes on with the rest of it. Grades whose item or passage has no text in the lake are left out.
    Raises `BadInput` when the lake has nothing of what is asked for.
    """
    query_ids = (wish.query_id,) if wish.query_id is not None else None
    check_queries(lake, wish.collection, query_ids)
    parameters = {
        "collection": wish.collection,
        "kind": wish.grader.kind,
        "needs_gold_answers": wish.grader.needs_gold_answers,
        "grader_id": wish.grader.grader_id,
        "scale_min": wish.grader.scale_min,
        "assessor": wish.assessor,
        "tau": wish.tau if wish.only_answered else None,
        "query_id": wish.query_id,
        "item_id": wish.item_id,
        "sample": wish.sample,
        "seed": str(wish.seed),
        "blind": wish.blind,
    }
    rows = lake.rows(f"{_DECK} limit {AT_ONCE}", **parameters, again=wish.again)
    if not rows and not (wish.again or lake.rows(f"{_DECK} limit 1", **parameters, again=True)):
        raise BadInput(
            f"there is nothing to review: {wish.grader.name} has no such grades on the newest "
            f"rubric of {wish.collection}, with item and passage in the lake",
            f"`gradelake plan {wish.collection}` says what is graded.",
        )
    cards = [Card(*[*row[:9], Reviewed(*row[9:14]) if row[9] else None]) for row in rows]
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


def passage_text(lake: Lake, collection: str, card: Card) -> str | None:
    """The text that was graded; None when it is no longer in the lake."""
    return lake.value(
        "select text from lake.raw.passages where collection = ? and passage_id = ? "
        "and (? is null or text_sha256 = ?)",
        collection,
        card.passage_id,
        card.passage_sha256,
        card.passage_sha256,
    )
