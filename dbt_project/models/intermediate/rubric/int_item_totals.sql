{{ config(materialized='table') }}

select
    collection,
    grader_id,
    query_id,
    item_id,
    gold_sha256,
    max(grade) as best_grade,
    {{ hash_of_rows('passage_id, grade') }} as grades_hash
from {{ ref('int_item_grades') }}
group by all
