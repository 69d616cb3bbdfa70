{{ config(materialized='view') }}

with

label_rubric_pairs as (
    select * from {{ source('raw', 'label_rubric_pairs') }}
),

own_graders as (
    select * from {{ ref('int_own_graders') }}
),

ensembles as (
    select * from {{ ref('int_ensembles') }}
),

-- an ensemble knows what its members know
judges as (
    select
        grader_id,
        grader
    from own_graders
    where target = 'direct'
    union all
    select
        grader_id,
        ensemble as grader
    from ensembles
    where target = 'direct'
)

select distinct
    label_rubric_pairs.collection,
    'judge:' || judges.grader as label_set,
    label_rubric_pairs.query_id,
    label_rubric_pairs.passage_id
from judges
inner join own_graders using (grader_id)
inner join label_rubric_pairs on own_graders.label_rubric_id = label_rubric_pairs.rubric_id
