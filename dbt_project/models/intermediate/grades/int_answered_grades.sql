select
    item_grades.* exclude (answer),
    -- what was compared with gold answers is the grader's own, or nothing
    coalesce(nullif(item_grades.answer, ''), extracted_answers.answer) as answer,
    case
        when item_grades.answer != '' then item_grades.grader
        else extracted_answers.answered_by
    end as answered_by
from {{ ref('int_item_grades') }} as item_grades
left join {{ ref('int_extracted_answers') }} as extracted_answers
    on
        item_grades.gold_sha256 is null
        and item_grades.collection = extracted_answers.collection
        and item_grades.grader_id = extracted_answers.grader_id
        and item_grades.query_id = extracted_answers.query_id
        and item_grades.passage_id = extracted_answers.passage_id
        and item_grades.item_id = extracted_answers.item_id
