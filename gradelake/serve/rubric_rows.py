"""What a release says of the items of a rubric: how often they are answered, and by what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradelake.sql.lake.opening import Lake

_K = 10  # passages of a system that coverage looks at
# of each item that the grader grades: n_graded, n_hits, best_grade (of passages), n_spurious,
# n_non_relevant, rate, assessor (of judged non-relevant ones; of several assessors the worst)
_ITEMS = """
    with

    graded as (
        select
            query_id,
            item_id,
            count(grade) as n_graded,
            count(*) filter (where grade >= $tau) as n_hits,
            max(grade) as best_grade
        from lake.marts.grader_items
        left join lake.marts.grade_grid
            using (collection, grader, rubric_version, query_id, item_id)
        where collection = $collection and grader = $grader and rubric_version = $version
        group by all
    ),

    spurious as (
        select distinct on (query_id, item_id)
            query_id,
            item_id,
            n_hits as n_spurious,
            n_non_relevant,
            rate,
            assessor
        from lake.marts.spurious_items
        where
            collection = $collection and grader = $grader
            and rubric_version = $version and tau = $tau and is_usual
        order by rate desc, n_hits desc, assessor asc
    )

    select *
    from graded
    left join spurious using (query_id, item_id)
"""

_PASSAGES = f"""
    select items.item_id, grid.passage_id, passages.text, grid.grade, judgments.relevance
    from ({_ITEMS}) as items
    inner join lake.marts.grade_grid as grid using (query_id, item_id)
    inner join lake.raw.judgments as judgments using (collection, query_id, passage_id, assessor)
    inner join lake.raw.collections as collections using (collection)
    left join lake.raw.passages as passages using (collection, passage_id)
    where
        collection = $collection and grid.grader = $grader and grid.rubric_version = $version
        and query_id = $query_id and grid.grade >= $tau
        and judgments.relevance < collections.min_relevant
    order by grid.grade desc, grid.passage_id asc
"""


@dataclass(frozen=True)
class Chosen:
    """What is shown: whose grades, from which grade on an item is answered, and of which
    version."""

    collection: str
    grader: str | None
    tau: int
    version: int  # the newest that the release has; 0 where it has none
    graders: list[str]
    taus: list[int]

    def values(self) -> dict[str, Any]:
        """The values for the statements below."""
        return {key: getattr(self, key) for key in ("collection", "grader", "version", "tau")}


def chosen(lake: Lake, collection: str, asked: Mapping[str, str]) -> Chosen:
    """The grader that `asked` names, else the first; `tau` likewise, else 4."""
    graders = lake.column(
        "select distinct grader from lake.marts.grader_items where collection = ? order by grader",
        collection,
    )
    newest = "select max(rubric_version) from lake.marts.rubric_versions where collection = ?"
    version = lake.value(newest, collection) or 0
    taus = lake.column("select distinct level::integer from lake.intermediate.evaluation_levels")
    tau = asked.get("tau", "4")
    from_grade = int(tau) if tau.isdecimal() and int(tau[:9]) in taus else 4
    grader = asked.get("grader")
    whose = grader if grader in graders else next(iter(graders), None)
    return Chosen(collection, whose, from_grade, version, graders, sorted(taus))


def queries(lake: Lake, by: Chosen) -> list[dict[str, Any]]:
    """All queries, worst first: query_id, text, n_items (of all kinds), n_graded, n_unanswered (of
    those) and n_spurious."""
    return lake.objects(
        f"""
        with

        effective as (
            select
                query_id,
                count(distinct (bank, item_id)) as n_items
            from lake.marts.rubric_items_effective
            where collection = $collection and rubric_version = $version
            group by query_id
        ),

        items as ({_ITEMS})

        select
            queries.query_id,
            queries.text,
            coalesce(effective.n_items, 0) as n_items,
            count(*) filter (where items.n_graded > 0) as n_graded,
            count(*) filter (where items.n_graded > 0 and items.n_hits = 0) as n_unanswered,
            count(items.n_spurious) as n_spurious
        from lake.raw.queries as queries
        left join effective using (query_id)
        left join items using (query_id)
        where queries.collection = $collection
        group by all
        order by n_spurious desc, max(items.rate) desc, n_unanswered desc, queries.query_id asc
        """,
        **by.values(),
    )


def items(lake: Lake, query_id: str, by: Chosen) -> dict[str, dict[str, Any]]:
    """What is known of a query's items, by item_id: see `_ITEMS`; `passages` are those that were
    judged non-relevant and answer it: passage_id, text, grade, relevance."""
    asked = {"query_id": query_id, **by.values()}
    found = lake.objects(f"{_ITEMS} where query_id = $query_id", **asked)
    known = {row["item_id"]: row | {"passages": []} for row in found}
    for row in lake.objects(_PASSAGES, **asked):
        known[row["item_id"]]["passages"].append(row)
    return known


def worst_first(item: Mapping[str, Any] | None) -> tuple[float, int]:
    """Sorts a query's items: by rate, then by how few passages answer; last what has no grades."""
    return (-(item["rate"] or 0), item["n_hits"]) if item and item["n_graded"] else (1, 0)


def cover(lake: Lake, query_id: str, by: Chosen) -> dict[str, Any] | None:
    """Cover@10 of a query over all systems: mean, best; None where nothing is graded."""
    (found,) = lake.objects(
        """
        select
            avg(cover) as mean,
            max(cover) as best,
            count(*) as n_systems
        from lake.marts.rubric_coverage
        where
            collection = $collection and grader = $grader and rubric_version = $version
            and query_id = $query_id and tau = $tau and k = $k
        """,
        query_id=query_id,
        **by.values(),
        k=_K,
    )
    return found if found["n_systems"] else None
