with

judgments as (
    select * from {{ ref('stg_judgments') }}
),

graders as (
    select * from {{ ref('int_graders') }}
),

grades as (
    select * from {{ ref('int_grades') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
),

assessor_labels as (
    select
        collection,
        'assessor:' || assessor as label_set,
        query_id,
        passage_id,
        relevance as label
    from judgments
),

-- a direct judge grades passages without a rubric: its grade is the label
judge_labels as (
    select
        grades.collection,
        'judge:' || graders.grader as label_set,
        grades.query_id,
        grades.passage_id,
        grades.grade as label
    from grades
    inner join graders on grades.grader_id = graders.grader_id
    where
        graders.target = 'direct'
        and grades.item_id = ''
        and grades.grade is not null
),

labels as (
    select * from assessor_labels
    union all
    select * from judge_labels
)

select labels.*
from labels
anti join left_out_passages
    on
        labels.collection = left_out_passages.collection
        and labels.passage_id = left_out_passages.passage_id
