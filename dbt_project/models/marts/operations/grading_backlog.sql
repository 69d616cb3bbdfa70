{{ config(materialized='view') }}

with

ungraded_pairs as (
    select * from {{ ref('int_ungraded_pairs') }}
)

select
    collection,
    grader,
    rubric_version,
    query_id,
    passage_id,
    item_id
from ungraded_pairs
where
    status = 'missing'
    -- neither can be asked
    and engine not in ('imported', 'ensemble')
