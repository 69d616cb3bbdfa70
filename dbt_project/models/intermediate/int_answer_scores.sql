with

measures as (
    select * from {{ ref('int_measures') }}
)

select
    nugget_scores.collection,
    nugget_scores.grader || '/v' || nugget_scores.rubric_version || '/nuggets' as label_set,
    nugget_scores.system,
    nugget_scores.query_id,
    measures.measure,
    case measures.measure
        when 'StrictVital' then nugget_scores.strict_vital_score
        when 'StrictAll' then nugget_scores.strict_all_score
        when 'Vital' then nugget_scores.vital_score
        when 'All' then nugget_scores.all_score
    end as value
from {{ ref('nugget_scores') }} as nugget_scores
inner join measures on measures.kind = 'nuggets'
where nugget_scores.n_assigned > 0
union all
select
    support_scores.collection,
    support_scores.grader || '/' || support_scores.citations || '_citation' as label_set,
    support_scores.system,
    support_scores.query_id,
    measures.measure,
    case measures.measure
        when 'SupportP' then support_scores.support_precision
        when 'SupportR' then support_scores.support_recall
        when 'SupportF1' then support_scores.support_f1
    end as value
from {{ ref('support_scores') }} as support_scores
inner join measures on measures.kind = 'support'
where support_scores.support_precision is not null
union all
select
    collection,
    grader || '/battles' as label_set,
    system,
    query_id,
    'WinRate' as measure,
    round(avg(value), 10) as value
from (
    select
        collection,
        grader,
        query_id,
        unnest([system, opponent]) as system,
        unnest(
            case outcome
                when 'win' then [1, 0]
                when 'loss' then [0, 1]
                else [0.5, 0.5]
            end
        ) as value
    from {{ ref('battles') }}
) as sides
where 'WinRate' in (select measures.measure from measures)
group by all
