with

grades as (
    select * from {{ ref('int_grades') }}
),

graders as (
    select * from {{ ref('int_graders') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
)

select
    grades.collection,
    grades.grader_id,
    graders.grader,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    grades.gold_sha256,
    grades.grade,
    grades.answer
from grades
inner join graders using (grader_id)
anti join left_out_passages using (collection, passage_id)
where
    graders.kind is not null
    and grades.item_id != ''
    and grades.grade is not null
