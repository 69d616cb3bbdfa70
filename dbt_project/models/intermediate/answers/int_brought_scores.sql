-- What scored answers elsewhere keeps its own names of measures, unless a name means one of ours.
with

scores as (
    select * from {{ source('raw', 'imported_scores') }}
    where query_id is not null
),

of_ours as (
    select measures.measure
    from (select distinct measure from scores) as measures
    semi join {{ ref('int_measure_families') }} as families
        on regexp_full_match(measures.measure, families.pattern, 'i')
)

select
    scores.collection,
    'scores:' || scores.board as label_set,
    scores.system,
    scores.query_id,
    scores.measure || if(of_ours.measure is null, '', ' (elsewhere)') as measure,
    round(scores.score, 10) as value
from scores
left join of_ours using (measure)
