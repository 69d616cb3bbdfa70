{{ config(materialized='parts', inputs='int_distinct_rubrics') }}

-- What a query's rubric asks for, and what the pool as a whole has to offer.
with

stale_rubrics as (
    select * from {{ stale_parts('int_distinct_rubrics') }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

item_totals as (
    select * from {{ ref('int_item_totals') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
)

select
    stale_rubrics.part,
    levels.level as tau,
    count(*) as n_items,
    sum(grader_items.weight order by grader_items.item_id) as total_weight,
    count(item_totals.best_grade) as n_graded_items,
    count(*) filter (where item_totals.best_grade >= levels.level) as n_coverable
from stale_rubrics
inner join grader_items using (collection, grader_id, rubric_version, query_id)
left join item_totals on {{ is_of_item('item_totals', 'grader_items') }}
cross join levels
group by all
