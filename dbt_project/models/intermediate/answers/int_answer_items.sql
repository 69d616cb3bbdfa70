with

answer_grades as (
    select * from {{ ref('int_item_grades') }}
    semi join {{ source('raw', 'answers') }} using (collection, query_id, passage_id)
)

select
    answers.collection,
    answers.system,
    answers.query_id,
    grader_items.grader,
    grader_items.rubric_version,
    grader_items.grader || '/v' || grader_items.rubric_version || '/' || kinds.label_sets
        as label_set,
    kinds.label_sets as label_kind,
    kinds.measures,
    grader_items.kind,
    grader_items.item_id,
    grader_items.weight,
    grader_items.weight >= 1 as is_vital,
    grader_items.tier,
    grader_items.criterion_type,
    (answer_grades.grade - graders.scale_min) / (graders.scale_max - graders.scale_min) as held,
    if(grader_items.weight < 0, held > 0, held < 1) as has_failed
from {{ source('raw', 'answers') }} as answers
inner join {{ ref('grader_items') }} as grader_items using (collection, query_id)
inner join {{ ref('graders') }} as graders using (grader_id)
inner join {{ ref('judgment_kinds') }} as kinds on grader_items.asks_about = kinds.kind
left join answer_grades using (collection, grader_id, query_id, passage_id, item_id)
where kinds.texts = 'answers'
