-- How many items and passages of a version of the rubric ask for a look, by grader and tau
with

spurious as (
    select
        grader,
        tau,
        count(distinct item_id) as n_spurious,
        sum(n_hits) as n_hits
    from lake.marts.spurious_items
    where
        collection = $collection
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

never_covered as (
    select
        grader,
        tau,
        count(*) as n_never_covered
    from lake.marts.never_covered_items
    where collection = $collection and rubric_version = $rubric_version
    group by all
),

items as (
    select
        grader,
        count(*) as n_items
    from lake.marts.rubric_progress
    where
        collection = $collection
        and rubric_version = $rubric_version
        and n_graded > 0
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
    coalesce(uncovered.n_uncovered, 0) as n_uncovered,
    coalesce(never_covered.n_never_covered, 0) as n_never_covered
from items
inner join taus using (grader)
left join spurious using (grader, tau)
left join uncovered using (grader, tau)
left join never_covered using (grader, tau)
order by all
