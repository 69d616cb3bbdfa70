-- Of each label set: the system that it favours most over an assessor's scores; what its grades
-- cost; whether its grader drifted, by the newest round of each sentinel
with

favours as (
    select
        label_set,
        max_by(system, favour) as favourite,
        max(favour) as favour,
        max_by(stderr, favour) as favour_stderr,
        max_by(n_queries, favour) as n_queries,
        count(*) as n_systems
    from lake.marts.system_bias
    inner join lake.marts.usual_levels using (collection, label_set, level)
    where collection = $collection and assessor = $assessor and measure = $measure
    group by label_set
),

rounds as (
    select *
    from lake.marts.judge_drift
    where collection = $collection and is_whole
    qualify round = max(round) over (partition by sentinel, grader)
),

drifts as (
    select
        grader,
        max(round) as n_rounds,
        bool_or(is_alarm) as is_alarm,
        min(drift_round) filter (where is_alarm) as drift_round
    from rounds
    group by grader
)

select
    sets.label_set,
    favours.* exclude (label_set),
    costs.cost,
    costs.currency,
    drifts.* exclude (grader)
from lake.marts.label_sets as sets
left join favours using (label_set)
left join lake.marts.label_set_cost as costs using (collection, label_set)
left join drifts
    on drifts.grader = coalesce(sets.grader, regexp_extract(sets.label_set, '^judge:(.*)$', 1))
where sets.collection = $collection
order by sets.label_set
