"""What a release says of the items of a rubric: how often they are answered, and by what."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradelake.sql.lake.opening import Lake

_K = 10  # passages of a system that coverage looks at
# of each item that is graded: n_graded, n_hits, best_grade (of passages), n_spurious,
# n_non_relevant, rate (of judged non-relevant ones; of several assessors the worst)
_ITEMS = """
    with

    graded as (
        select
            query_id,
            item_id,
            count(grade) as n_graded,
            count(*) filter (where grade >= $tau) as n_hits,
            max(grade) as best_grade
        from lake.marts.grade_grid
        where collection = $collection and grader = $grader and rubric_version = $version
        group by all
        having n_graded > 0
    ),

    spurious as (
        select
            query_id,
            item_id,
            arg_max(n_hits, rate) as n_spurious,
            arg_max(n_non_relevant, rate) as n_non_relevant,
            max(rate) as rate
        from lake.marts.spurious_items
        where
            collection = $collection and grader = $grader
            and rubric_version = $version and tau = $tau
        group by all
    )

    select *
    from graded
    left join spurious using (query_id, item_id)
"""


@dataclass(frozen=True)
class Chosen:
    """Whose grades are shown, from which grade on an item is answered, and of which version."""

    collection: str
    grader: str | None
    tau: int
    version: int  # the newest that the release has; 0 where it has none
    graders: list[str]
    taus: list[int]

    def values(self) -> dict[str, Any]:
        """For the statements below."""
        return {key: getattr(self, key) for key in ("collection", "grader", "version", "tau")}


def chosen(lake: Lake, collection: str, asked: Mapping[str, str]) -> Chosen:
    """The grader that `asked` names, else the first; `tau` likewise, else 4."""
    graders = lake.column(
        "select distinct grader from lake.intermediate.int_grader_items where collection = ? "
        "order by grader",
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
    """All queries: query_id, text, n_items (of all kinds), n_graded, n_answered and n_spurious."""
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
            count(items.item_id) as n_graded,
            count(items.item_id) filter (where items.n_hits > 0) as n_answered,
            count(items.n_spurious) as n_spurious
        from lake.raw.queries as queries
        left join effective using (query_id)
        left join items using (query_id)
        where queries.collection = $collection
        group by all
        order by queries.query_id
        """,
        **by.values(),
    )


def items(lake: Lake, query_id: str, by: Chosen) -> dict[str, dict[str, Any]]:
    """What is known of a query's items, by item_id: see `_ITEMS`."""
    found = lake.objects(f"{_ITEMS} where query_id = $query_id", query_id=query_id, **by.values())
    return {row["item_id"]: row for row in found}


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
