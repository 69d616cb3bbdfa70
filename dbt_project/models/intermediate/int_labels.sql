{{ config(materialized='table') }}

with

labels as (
    select
        collection,
        'assessor:' || assessor as label_set,
        query_id,
        passage_id,
        relevance as label
    from {{ source('raw', 'judgments') }}
    union all by name
    -- a direct judge grades passages without a rubric: its grade is the label
    select
        grades.collection,
        'judge:' || graders.grader as label_set,
        grades.query_id,
        grades.passage_id,
        grades.grade as label,
        grades.n_items,
        grades.n_missing
    from {{ ref('int_grades') }} as grades
    inner join {{ ref('int_graders') }} as graders using (grader_id)
    where
        graders.target = 'direct'
        and grades.item_id = ''
        and grades.grade is not null
    union all by name
    select
        collection,
        'clicks:COEC' as label_set,
        query_id,
        passage_id,
        label
    from {{ ref('click_labels') }}
    where label is not null
    union all by name
    select
        collection,
        grader || '/v' || rubric_version || '/' || policy as label_set,
        query_id,
        passage_id,
        label,
        n_items,
        n_missing
    from {{ ref('int_rubric_labels') }}
)

select labels.*
from labels
anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
