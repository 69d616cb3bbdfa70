with

banks_kinds as (
    select distinct
        collection,
        kind
    from {{ ref('stg_rubric_items') }}
),

graded_items as (
    select distinct
        grades.collection,
        graders.target as kind,
        grades.query_id,
        grades.item_id
    from {{ ref('stg_grades') }} as grades
    inner join {{ ref('stg_graders') }} as graders using (grader_id)
    where graders.target in ('question', 'nugget')
)

select
    graded_items.collection,
    'graded_' || graded_items.kind || 's' as bank,
    graded_items.query_id,
    graded_items.item_id,
    graded_items.kind
from graded_items
anti join banks_kinds using (collection, kind)
