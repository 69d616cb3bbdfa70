with

judgments as (
    select * from {{ source('raw', 'judgments') }}
),

grades as (
    select * from {{ ref('int_grades') }}
),

graders as (
    select * from {{ ref('int_graders') }}
),

rubric_labels as (
    select * from {{ ref('int_rubric_labels') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
),

labels as (
    select
        collection,
        'assessor:' || assessor as label_set,
        query_id,
        passage_id,
        relevance as label
    from judgments
    union all by name
    -- a direct judge grades passages without a rubric: its grade is the label
    select
        grades.collection,
        'judge:' || graders.grader as label_set,
        grades.query_id,
        grades.passage_id,
        grades.grade as label
    from grades
    inner join graders using (grader_id)
    where
        graders.target = 'direct'
        and grades.item_id = ''
        and grades.grade is not null
    union all by name
    select
        collection,
        grader || '/v' || rubric_version || '/' || policy as label_set,
        query_id,
        passage_id,
        label,
        n_items,
        n_missing
    from rubric_labels
)

select labels.*
from labels
anti join left_out_passages using (collection, passage_id)
