"""A sentinel: which pairs, drawn once and never changed, and whose grades of them are watched."""

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import Field

from gradelake.grading.graders.configured import configured
from gradelake.grading.graders.grader import Grader
from gradelake.sql.common import checked
from gradelake.sql.common.checked import Checked, Text
from gradelake.sql.common.clock import utc_now
from gradelake.sql.common.errors import BadInput, NotThere
from gradelake.sql.common.judgment_kinds import judgment_kinds
from gradelake.sql.common.project import TO_JUDGE, Project, did_you_mean, require_known
from gradelake.sql.lake.opening import Lake
from gradelake.sql.lake.sampling import allocate

OF_PROBES = "probe/"  # what the names of their sets begin with, which are kept beside sentinels'
W = TypeVar("W", bound="Watched")
# what a grader's prompt asks about -> kind of a pair
KINDS = {each.target: each.kind for each in judgment_kinds().values() if each.is_of_passages}


class Watched(Checked):
    """A fixed set of pairs, graded in rounds: a sentinel's, or a probe's."""

    collection: Text
    graders: list[Text] = Field(min_length=1, description='For example: graders = ["umbrela"].')
    every_days: int = Field(1, ge=0, le=366, description="0: whenever a round is asked for.")


class Sentinel(Watched):
    """`[sentinels.NAME]`. `pairs` are passages of a query that people judged."""

    assessor: Text | None = None  # None: who judged the most
    pairs: int = Field(200, ge=20, le=100_000)
    rounds_per_false_alarm: int = Field(1000, ge=10, le=1_000_000)


def read_sentinel(project: Project, name: str) -> Sentinel:
    """`[sentinels.NAME]`. Raises `BadInput` as `read_watched`, and for a probe's name."""
    if name.startswith(OF_PROBES):
        raise BadInput(f"{project.file}: [sentinels.{name}]: probes are called so", "Rename it.")
    return read_watched(Sentinel, project, "sentinels", name)


def read_watched(model: type[W], project: Project, kind: str, name: str) -> W:
    """`[KIND.NAME]`. Raises `BadInput` where there is none, or for all that is wrong in it."""
    missing = f"{project.file}: there is no [{kind}.{name}]"
    how = "Describe it there: collection, graders."
    require_known(name, getattr(project, kind), missing, NotThere, how)
    return checked.table(model, project, kind, name)


def watched(project: Project, lake: Lake, where: str, grader: str) -> Grader:
    """A grader that may be watched: one that grades passages, as wholes or by the items of a
    rubric, from their texts alone. Rounds are asked online, at that price, whatever `batch` says.
    Raises `BadInput` for another, which `where` names."""
    found = configured(project, lake, grader)
    prompt = found.prompt
    if prompt.target in KINDS and prompt.window:
        raise BadInput(
            f"{where}: {grader!r} asks about several items at once, whose grades hang together",
            "Watch one that asks about each by itself: without items_per_call.",
        )
    if prompt.target not in KINDS or found.scores_from or prompt.topic_slots:
        raise BadInput(
            f"{where}: {grader!r} is shown more than a query, a passage and a question or nugget",
            "Graders of passages can be watched: direct judges, and those of rubric items.",
        )
    return replace(found, in_batches=False)


# Pairs that an assessor judged and that can be graded, with what is asked about each: `items`. A
# query counts that has items of every kind.
ELIGIBLE = """
    with

    items as (
        select query_id, kind, item_id, text
        from lake.marts.wanted_items
        where
            collection = $collection
            and list_contains($kinds, kind)
            and text is not null
            and rubric_version = case when kind = 'passage' then 0 else (
                select max(rubric_version) from lake.marts.wanted_items
                where collection = $collection and list_contains($kinds, kind)
            ) end
    ),

    queries as (
        select query_id
        from items
        group by query_id
        having count(distinct kind) = len($kinds)
    ),

    gradable as (
        select query_id, passage_id
        from lake.marts.wanted_grades
        where collection = $collection and kind = 'passage' and is_gradable
    ),

    eligible as (
        select query_id, passage_id, greatest(relevance, 0) as judgment
        from lake.raw.judgments
        semi join queries using (query_id)
        semi join gradable using (query_id, passage_id)
        where collection = $collection and assessor = $assessor
    )
"""
# the same pairs whatever the sentinel is called: one that begins anew can be compared
_DRAWN = """,

    numbered as (
        select *, row_number() over (
            partition by judgment order by sha256(query_id || chr(10) || passage_id)
        ) as place
        from eligible
    ),

    quotas as (
        select unnest($judgments) as judgment, unnest($quotas) as quota
    )

    select
        $collection as collection,
        $sentinel as sentinel,
        query_id,
        passage_id,
        items.item_id,
        items.kind,
        numbered.judgment,
        queries.text as query,
        passages.text as passage,
        items.text as item
    from numbered
    inner join quotas using (judgment)
    inner join items using (query_id)
    inner join lake.raw.queries as queries using (query_id)
    inner join lake.raw.passages as passages using (passage_id)
    where
        numbered.place <= quotas.quota
        and queries.collection = $collection
        and passages.collection = $collection
"""


def assessor_of(lake: Lake, collection: str, wanted: str | None = None) -> str:
    """The assessor whose judgments a set has: the one who is wanted, or else who judged the most.
    Raises `BadInput` where there are none."""
    lake.require_collection(collection)
    by_pairs = dict(
        lake.rows(
            "select assessor, count(*) as n from lake.raw.judgments where collection = ? "
            "group by all order by n desc, assessor",
            collection,
        )
    )
    assessor = wanted or next(iter(by_pairs), "")
    if assessor not in by_pairs:
        raise BadInput(
            f"{collection} has no judgments" + (f" by {assessor!r}" if assessor else ""),
            "A judge is watched on what people judged. "
            + did_you_mean(assessor, by_pairs, TO_JUDGE),
        )
    return assessor


def nothing_to_ask(collection: str, assessor: str, graders: list[Grader]) -> BadInput:
    """Nothing that the assessor judged has all that a prompt shows."""
    return BadInput(
        f"{collection}: of what {assessor} judged, nothing can be graded by "
        f"{', '.join(grader.name for grader in graders)}",
        "Passages need a text, and queries need items where a grader is asked about items.",
    )


def n_drawn(lake: Lake, collection: str, name: str, kind: str = "%") -> tuple[int, int]:
    """(pairs, requests for them) of a sentinel; 0 where it was not drawn, or lacks that kind."""
    return lake.rows(
        "select count(distinct (query_id, passage_id)), count(*) from lake.raw.sentinel_pairs "
        "where collection = ? and sentinel = ? and kind like ?",
        collection,
        name,
        kind,
    )[0]


def draw(lake: Lake, name: str, sentinel: Sentinel, graders: list[Grader]) -> int:
    """Draw a sentinel's pairs, unless it has some: of each judgment in proportion to how often it
    was given, in the order of a hash. Returns how many pairs it has.

    Raises `BadInput` where nothing can be drawn, and where a set that was drawn before lacks what a
    grader is asked about: such a set never changes.
    """
    collection = sentinel.collection
    kinds = sorted({KINDS[grader.prompt.target] for grader in graders})
    if has := n_drawn(lake, collection, name)[0]:
        for kind in kinds:
            if not n_drawn(lake, collection, name, kind)[1]:
                raise BadInput(
                    f"the sentinel {name!r} was drawn without {kind}s, and never changes",
                    "Give it another name in gradelake.toml: that one is drawn anew.",
                )
        return has
    assessor = assessor_of(lake, collection, sentinel.assessor)
    values: dict[str, Any] = {"collection": collection, "assessor": assessor, "kinds": kinds}
    # in order: `allocate` gives the first of equal judgments the pair that is left over
    counted = "select judgment, count(*) from eligible group by all order by all"
    sizes = dict(lake.rows(f"{ELIGIBLE} {counted}", **values))
    if not sizes:
        raise nothing_to_ask(collection, assessor, graders)
    quotas = allocate(sizes, min(sentinel.pairs, sum(sizes.values())), sizes)
    rows = lake.frame(
        ELIGIBLE + _DRAWN,
        **values,
        sentinel=name,
        judgments=list(quotas),
        quotas=list(quotas.values()),
    )
    made = {
        "collection": collection,
        "sentinel": name,
        "assessor": assessor,
        "rounds_per_false_alarm": sentinel.rounds_per_false_alarm,
        "drawn_at": utc_now(),
    }
    n_pairs = sum(quotas.values())
    with lake.transaction("grade", f"{collection} sentinel {name}") as transaction:
        transaction.insert("sentinels", [made])
        transaction.insert("sentinel_pairs", rows)
        transaction.say(pairs=n_pairs)
    return n_pairs
