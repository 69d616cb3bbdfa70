with

graders as (
    select * from {{ ref('int_graders') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
),

ensemble_grades as (
    select * from {{ ref('int_ensemble_grades') }}
),

rubric_items as (
    select * from {{ ref('int_rubric_items') }}
),

-- a grader's rubric matters where it has graded something
graders_at_work as (
    select
        collection,
        grader_id
    from grades
    where grade is not null
    union
    select
        collection,
        grader_id
    from ensemble_grades
),

-- an item that several banks have counts once, with the greatest of its weights
items as (
    select
        collection,
        rubric_version,
        kind,
        query_id,
        item_id,
        min(item_text) as item_text,
        max(weight) as weight,
        bool_or(coalesce(len(gold_answers), 0) > 0) as has_gold_answers
    from rubric_items
    group by all
)

select
    items.collection,
    graders.grader_id,
    graders.grader,
    items.rubric_version,
    items.kind,
    items.query_id,
    items.item_id,
    items.item_text,
    items.weight
from items
inner join graders using (kind)
semi join graders_at_work using (collection, grader_id)
where items.has_gold_answers or not graders.needs_gold_answers
