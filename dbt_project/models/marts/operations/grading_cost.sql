{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
)

select
    grades.collection,
    graders.grader,
    cast(grades.graded_at as date) as day,
    graders.model,
    count(*) as n_pairs,
    count(*) filter (where grades.status = 'failed') as n_failed,
    cast(coalesce(sum(grades.prompt_tokens), 0) as bigint) as prompt_tokens,
    cast(coalesce(sum(grades.cached_tokens), 0) as bigint) as cached_tokens,
    cast(coalesce(sum(grades.completion_tokens), 0) as bigint) as completion_tokens
from grades
inner join graders using (grader_id)
where graders.engine != 'imported'
group by
    grades.collection,
    graders.grader,
    cast(grades.graded_at as date),
    graders.model
