{{ config(materialized='view') }}

-- Cover@k of the RUBRIC and EXAM++ papers: the share of a query's rubric items that a system's top
-- k passages answer with a grade of tau or more.
with

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

variants as (
    select * from {{ ref('int_rubric_variants') }}
),

item_totals as (
    select * from {{ ref('int_item_totals') }}
),

rubric_scores as (
    select * from {{ ref('int_rubric_scores') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

cutoffs as (
    select distinct cutoff as k
    from grid
    where family = 'Cover'
),

-- what the pool as a whole has to offer
rubrics as (
    select
        variants.collection,
        variants.grader,
        variants.rubric_version,
        variants.query_id,
        variants.variant,
        levels.level as tau,
        count(*) as n_items,
        sum(grader_items.weight order by grader_items.item_id) as total_weight,
        count(item_totals.best_grade) as n_graded_items,
        count(*) filter (where item_totals.best_grade >= levels.level) as n_coverable
    from variants
    inner join grader_items using (collection, grader_id, rubric_version, query_id)
    left join item_totals using (collection, grader_id, query_id, item_id)
    cross join levels
    group by all
)

select
    rubrics.collection,
    rubrics.grader,
    rubrics.rubric_version,
    rubrics.tau,
    cutoffs.k,
    systems.system,
    rubrics.query_id,
    rubric_scores.variant is not null as is_answered,
    rubrics.n_items,
    coalesce(rubric_scores.n_covered, 0) as n_covered,
    round(coalesce(rubric_scores.n_covered, 0) / rubrics.n_items, 10) as cover,
    round(coalesce(rubric_scores.covered_weight, 0) / nullif(rubrics.total_weight, 0), 10)
        as cover_weighted,
    round(coalesce(rubric_scores.n_covered / nullif(rubrics.n_coverable, 0), 0), 10)
        as cover_normalised,
    case
        when rubric_scores.variant is not null and rubrics.n_graded_items > 0
            then round(rubric_scores.n_covered / rubrics.n_graded_items, 10)
    end as cover_workbench
from rubrics
inner join systems using (collection)
cross join cutoffs
left join rubric_scores using (variant, system, tau, k)
