{{ config(
    materialized='parts',
    inputs='int_rubric_inputs',
    part_key="collection || '/' || grader || '/v' || rubric_version"
) }}

-- Cover@k of the RUBRIC and EXAM++ papers: the share of a query's rubric items that a system's top
-- k passages answer with a grade of tau or more.
with

grader_items as (
    {{ rows_of_stale_parts(
        ref('int_grader_items'), ref('int_rubric_inputs'), 'collection, grader_id, rubric_version'
    ) }}
),

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

item_ranks as (
    select * from {{ ref('int_item_ranks') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
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

best_grades as (
    select
        collection,
        grader_id,
        query_id,
        item_id,
        max(grade) as best_grade
    from item_grades
    group by all
),

-- what the pool as a whole has to offer
rubrics as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.grader,
        grader_items.rubric_version,
        grader_items.query_id,
        levels.level as tau,
        count(*) as n_items,
        sum(grader_items.weight order by grader_items.item_id) as total_weight,
        count(best_grades.best_grade) as n_graded_items,
        count(*) filter (where best_grades.best_grade >= levels.level) as n_coverable
    from grader_items
    left join best_grades using (collection, grader_id, query_id, item_id)
    cross join levels
    group by all
),

answered as (
    select distinct
        collection,
        system,
        query_id
    from ranked_entries
),

covered as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.rubric_version,
        item_ranks.tau,
        cutoffs.k,
        item_ranks.system,
        grader_items.query_id,
        count(*) as n_covered,
        sum(grader_items.weight order by grader_items.item_id) as covered_weight
    from item_ranks
    inner join grader_items using (collection, grader_id, query_id, item_id)
    inner join cutoffs on item_ranks.ranks[1] <= cutoffs.k
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
    answered.query_id is not null as is_answered,
    rubrics.n_items,
    coalesce(covered.n_covered, 0) as n_covered,
    round(coalesce(covered.n_covered, 0) / rubrics.n_items, 10) as cover,
    round(coalesce(covered.covered_weight, 0) / nullif(rubrics.total_weight, 0), 10)
        as cover_weighted,
    round(coalesce(covered.n_covered / nullif(rubrics.n_coverable, 0), 0), 10) as cover_normalised,
    case
        when answered.query_id is not null and rubrics.n_graded_items > 0
            then round(coalesce(covered.n_covered, 0) / rubrics.n_graded_items, 10)
    end as cover_workbench
from rubrics
inner join systems using (collection)
cross join cutoffs
left join covered using (collection, grader_id, rubric_version, tau, query_id, k, system)
left join answered using (collection, query_id, system)
