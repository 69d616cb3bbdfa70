with

measures as (
    select * from {{ ref('int_measures') }}
),

of_items as (
    select
        *,
        'nuggets' as kind
    from {{ ref('nugget_scores') }}
    union all by name
    select
        *,
        'criteria' as kind
    from {{ ref('criteria_scores') }}
)

select
    collection,
    grader || '/v' || rubric_version || '/' || kind as label_set,
    system,
    query_id,
    measures.measure,
    case measures.measure
        when 'StrictVital' then strict_vital_score
        when 'StrictAll' then strict_all_score
        when 'Vital' then vital_score
        when 'All' then all_score
        when 'Criteria' then criteria_score
        when 'CriteriaStrict' then strict_criteria_score
    end as value
from of_items
inner join measures using (kind)
where coalesce(all_score, criteria_score) is not null
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
union all
select
    collection,
    label_set,
    system,
    query_id,
    measure,
    value
from {{ ref('int_brought_scores') }}
