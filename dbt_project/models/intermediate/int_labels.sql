with

collections as (
    select * from {{ ref('stg_collections') }}
),

judgments as (
    select * from {{ ref('stg_judgments') }}
),

graders as (
    select * from {{ ref('stg_graders') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
),

near_duplicates as (
    select * from {{ ref('stg_near_duplicates') }}
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
        grades.item_id = ''
        and grades.grade is not null
),

labels as (
    select * from assessor_labels
    union all
    select * from judge_labels
),

left_out as (
    select
        near_duplicates.collection,
        near_duplicates.passage_id
    from near_duplicates
    inner join collections on near_duplicates.collection = collections.collection
    where collections.leave_out_near_duplicates
)

select labels.*
from labels
anti join left_out
    on
        labels.collection = left_out.collection
        and labels.passage_id = left_out.passage_id
