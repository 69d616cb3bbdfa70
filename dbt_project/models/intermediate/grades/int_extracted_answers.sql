-- what one model found in a passage stands beside its own grades, and beside no other's
select
    grades.collection,
    graders.grader_id,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    -- of several extractors' answers that of the newest
    arg_max(grades.answer, (extractors.created_at, extractors.grader_id)) as answer,
    arg_max(extractors.grader, (extractors.created_at, extractors.grader_id)) as answered_by
from {{ ref('int_grades') }} as grades
inner join {{ ref('graders') }} as extractors using (grader_id)
inner join {{ ref('graders') }} as graders
    on
        extractors.engine = graders.engine
        and extractors.model = graders.model
        and extractors.prefix = graders.prefix
where
    extractors.target = 'extract'
    and grades.answer != ''
group by all
