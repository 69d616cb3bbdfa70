{{ config(materialized='parts', inputs='int_distinct_rubrics', in_order_of='query_id') }}

with

rubric_items as (
    select
        stale_rubrics.part,
        grader_items.*,
        count(*) over (partition by stale_rubrics.part) as n_items
    from {{ ref('int_distinct_rubrics') }} as stale_rubrics
    inner join {{ ref('grader_items') }} as grader_items
        using (collection, grader_id, rubric_version, query_id)
)

select
    rubric_items.part,
    item_grades.passage_id,
    any_value(rubric_items.n_items) as n_items,
    list_reverse_sort(list(item_grades.grade)) as grades
from {{ ref('int_item_grades') }} as item_grades
inner join rubric_items using (collection, grader_id, query_id, item_id)
where item_grades.gold_sha256 is not distinct from rubric_items.gold_sha256
group by rubric_items.part, item_grades.passage_id
