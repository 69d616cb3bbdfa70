-- How many items of a version of the rubric are graded, how many are spurious, and how many
-- passages are uncovered, by grader and tau
with

spurious as (
    select
        grader,
        tau,
        count(distinct item_id) as n_spurious,
        sum(n_hits) as n_hits
    from lake.marts.spurious_items
    where
        is_usual
        and collection = $collection
        and rubric_version = $rubric_version
        and assessor = $assessor
    group by all
),

uncovered as (
    select
        grader,
        tau,
        count(*) as n_uncovered
    from lake.marts.uncovered_passages
    where
        collection = $collection
        and rubric_version = $rubric_version
        and assessor = $assessor
    group by all
),

-- not by rubric_progress, which computes the pool once more
items as (
    select
        items.grader,
        count(*) as n_items
    from lake.marts.grader_items as items
    semi join lake.intermediate.int_item_grades as item_grades
        on
            items.collection = item_grades.collection
            and items.grader_id = item_grades.grader_id
            and items.query_id = item_grades.query_id
            and items.item_id = item_grades.item_id
            and items.gold_sha256 is not distinct from item_grades.gold_sha256
    where items.collection = $collection and items.rubric_version = $rubric_version
    group by all
),

-- from a grade that the grader's scale does not reach, nothing is answered
taus as (
    select
        graders.name as grader,
        levels.level as tau
    from lake.raw.graders as graders
    inner join lake.intermediate.evaluation_levels as levels
        on levels.level between 1 and graders.scale_max
    group by all
)

select
    items.grader,
    taus.tau,
    items.n_items,
    coalesce(spurious.n_spurious, 0) as n_spurious,
    cast(coalesce(spurious.n_hits, 0) as bigint) as n_hits,
    coalesce(uncovered.n_uncovered, 0) as n_uncovered
from items
inner join taus using (grader)
left join spurious using (grader, tau)
left join uncovered using (grader, tau)
order by all
