{{ config(materialized='table') }}

-- A direct judge grades passages without a rubric: its grade is the label, whatever is edited.
select
    grades.collection,
    'judge:' || graders.grader as label_set,
    grades.query_id,
    grades.passage_id,
    grades.grade as label,
    grades.n_items,
    grades.n_missing
from {{ ref('int_grades') }} as grades
inner join {{ ref('graders') }} as graders using (grader_id)
where
    graders.target = 'direct'
    and grades.item_id = ''
    and grades.grade is not null
