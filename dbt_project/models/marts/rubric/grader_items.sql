{{ config(materialized='table') }}

with

-- a grader's rubric matters where it has graded something
graders_at_work as (
    select
        collection,
        grader_id
    from {{ source('raw', 'grades') }}
    where grade is not null
    union
    select
        collection,
        grader_id
    from {{ ref('int_ensemble_grades') }}
)

select
    items.collection,
    graders.grader_id,
    graders.grader,
    graders.asks_about,
    items.rubric_version,
    items.kind,
    items.query_id,
    items.item_id,
    items.item_text,
    case when graders.needs_gold_answers then items.gold_answers end as gold_answers,
    case when graders.needs_gold_answers then items.gold_sha256 end as gold_sha256,
    items.weight,
    items.place,
    items.tier,
    items.criterion_type,
    items.facet_ids
from {{ ref('int_asked_items') }} as items
inner join {{ ref('graders') }} as graders using (asks_about, kind)
semi join graders_at_work using (collection, grader_id)
where items.gold_answers is not null or not graders.needs_gold_answers
