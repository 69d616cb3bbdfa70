{{ config(materialized='view') }}

with

variants as (
    select * from {{ ref('int_rubric_variants') }}
)

select
    variant as part,
    collection,
    grader_id,
    query_id,
    min(rubric_version) as rubric_version
from variants
group by all
