with

own_graders as (
    select * from {{ ref('int_own_graders') }}
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
    from {{ ref('int_ensembles') }}
    where target = 'direct'
)

select distinct
    label_rubric_pairs.collection,
    'judge:' || judges.grader as label_set,
    label_rubric_pairs.query_id,
    label_rubric_pairs.passage_id
from judges
inner join own_graders using (grader_id)
inner join {{ source('raw', 'label_rubric_pairs') }} as label_rubric_pairs
    on own_graders.label_rubric_id = label_rubric_pairs.rubric_id
