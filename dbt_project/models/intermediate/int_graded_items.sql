with

grades as (
    select * from {{ source('raw', 'grades') }}
),

graders as (
    select * from {{ ref('stg_graders') }}
),

rubric_items as (
    select * from {{ ref('stg_rubric_items') }}
)

select distinct
    grades.collection,
    'graded_' || graders.target || 's' as bank,
    grades.query_id,
    grades.item_id,
    graders.target as kind
from grades
inner join graders using (grader_id)
anti join rubric_items
    on
        grades.collection = rubric_items.collection
        and graders.target = rubric_items.kind
where graders.target in ('question', 'nugget')
