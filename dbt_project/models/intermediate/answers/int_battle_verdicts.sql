{{ config(materialized='table') }}

-- Of the answers as they are, and of the newest rubric where the judge was shown it.
select item_grades.* exclude (grader_id, gold_sha256, answer)
from {{ ref('int_item_grades') }} as item_grades
inner join {{ ref('graders') }} as graders using (grader_id)
inner join {{ ref('wanted_items') }} as items using (collection, query_id, item_id, kind)
where
    graders.kind = 'battle'
    and item_grades.gold_sha256 is not distinct from case
        when graders.needs_gold_answers then items.gold_sha256
    end
