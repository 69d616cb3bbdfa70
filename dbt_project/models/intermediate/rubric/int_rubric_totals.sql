{{ config(materialized='parts', inputs='int_distinct_rubrics') }}

-- What a query's rubric asks for, and what the pool as a whole has to offer.
with

items as (
    select
        stale_rubrics.part,
        {{ each_scope('grader_items.facet_ids') }} as facet_id,
        grader_items.item_id,
        grader_items.weight,
        item_totals.best_grade
    from {{ ref('int_distinct_rubrics') }} as stale_rubrics
    inner join {{ ref('grader_items') }} as grader_items
        using (collection, grader_id, rubric_version, query_id)
    left join {{ ref('int_item_totals') }} as item_totals
        on {{ is_of_item('item_totals', 'grader_items') }}
)

select
    items.part,
    levels.level as tau,
    items.facet_id,
    count(*) as n_items,
    sum(items.weight order by items.item_id) as total_weight,
    count(items.best_grade) as n_graded_items,
    count(*) filter (where items.best_grade >= levels.level) as n_coverable
from items
cross join {{ ref('evaluation_levels') }} as levels
group by all
