{{ config(materialized='table') }}

-- Whatever the rubric makes of the grades: its edits do not come this way.
select
    collection,
    query_id,
    passage_id
from {{ source('raw', 'judgments') }}
union
select
    collection,
    query_id,
    passage_id
from {{ source('raw', 'grades') }}
