{{ config(materialized='view') }}

with

grading_cost as (
    select * from {{ ref('grading_cost', v=2) }}
)

select
    collection,
    grader,
    day,
    model,
    cast(sum(n_pairs) as bigint) as n_pairs,
    cast(sum(n_failed) as bigint) as n_failed,
    cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    cast(sum(cached_tokens) as bigint) as cached_tokens,
    cast(sum(completion_tokens) as bigint) as completion_tokens
from grading_cost
group by
    collection,
    grader,
    day,
    model
