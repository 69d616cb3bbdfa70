{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

grades as (
    select * from {{ ref('int_grades') }}
)

select
    grades.collection,
    graders.grader,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    grades.error,
    grades.response,
    grades.batch_id,
    grades.graded_at
from grades
inner join graders using (grader_id)
where grades.status = 'failed'
order by
    grades.graded_at desc,
    grades.collection asc,
    graders.grader asc,
    grades.query_id asc,
    grades.passage_id asc,
    grades.item_id asc
