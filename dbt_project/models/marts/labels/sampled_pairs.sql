with

-- an ensemble knows what its members know
judges as (
    select
        grader_id,
        grader
    from {{ ref('int_own_graders') }}
    union all
    select
        grader_id,
        ensemble as grader
    from {{ ref('int_ensembles') }}
)

select distinct
    label_rubric_pairs.collection,
    'judge:' || judges.grader as label_set,
    label_rubric_pairs.query_id,
    label_rubric_pairs.passage_id
from judges
inner join {{ ref('int_own_graders') }} as own_graders using (grader_id)
inner join {{ source('raw', 'label_rubric_pairs') }} as label_rubric_pairs
    on own_graders.label_rubric_id = label_rubric_pairs.rubric_id
where own_graders.target = 'direct'
