{{ config(materialized='view') }}

with

grades as (
    select * from {{ ref('int_grades') }}
),

graders as (
    select * from {{ ref('int_graders') }}
)

-- of several graders' answers that of the newest
select
    grades.collection,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    arg_max(grades.answer, (graders.created_at, graders.grader_id)) as answer
from grades
inner join graders using (grader_id)
where
    graders.target = 'extract'
    and grades.answer != ''
group by all
