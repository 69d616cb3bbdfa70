-- of several graders' answers that of the newest
select
    grades.collection,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    arg_max(grades.answer, (graders.created_at, graders.grader_id)) as answer
from {{ ref('int_grades') }} as grades
inner join {{ ref('int_graders') }} as graders using (grader_id)
where
    graders.target = 'extract'
    and grades.answer != ''
group by all
