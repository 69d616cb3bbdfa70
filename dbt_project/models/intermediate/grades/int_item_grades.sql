{{ config(materialized='table') }}

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
from {{ ref('int_grades') }} as grades
inner join {{ ref('graders') }} as graders using (grader_id)
anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
where
    graders.kind is not null
    and grades.item_id != ''
    and grades.grade is not null
