{{ config(materialized='table') }}

select distinct
    grades.collection,
    'graded_' || graders.target || 's' as bank,
    grades.query_id,
    grades.item_id,
    graders.target as kind
from {{ source('raw', 'grades') }} as grades
inner join {{ ref('int_recorded_graders') }} as graders using (grader_id)
anti join {{ source('raw', 'rubric_items') }} as rubric_items
    on
        grades.collection = rubric_items.collection
        and graders.target = rubric_items.kind
where graders.target in ('question', 'nugget')
