{{ config(materialized='table') }}

-- Most versions of a rubric leave most queries as they were: what is computed for a variant serves
-- every version that has it.
with

item_totals as (
    select * from {{ ref('int_item_totals') }}
),

variants as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.grader,
        grader_items.rubric_version,
        grader_items.query_id,
        {{ hash_of_rows(
            'grader_items.item_id, grader_items.weight, grader_items.facet_ids, '
            'item_totals.grades_hash'
        ) }} as items_hash
    from {{ ref('grader_items') }} as grader_items
    left join item_totals on {{ is_of_item('item_totals', 'grader_items') }}
    left join {{ ref('judgment_kinds') }} as kinds on grader_items.asks_about = kinds.kind
    -- coverage is of passages
    where coalesce(kinds.texts, 'pool') = 'pool'
    group by all
)

select
    variants.* exclude (items_hash),
    hash(
        variants.collection,
        variants.grader_id,
        variants.query_id,
        {{ hash_of_what_is_computed() }},
        variants.items_hash
    ) as variant
from variants
semi join item_totals using (collection, grader_id)
