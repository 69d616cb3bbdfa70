-- Has a judge drifted, by each round of its sentinels, newest first?
-- :collection :grader
-- :sentinel = any              a sentinel's name
-- An alarm names the round, and its day, in which the change most likely began.
select
    collection,
    sentinel,
    grader,
    round,
    cast(began_at as date) as day,
    n_labelled as pairs,
    round(agreement, 3) as agreement,
    round(kappa, 3) as kappa,
    round(kappa_quadratic, 3) as quadratic,
    n_flips as flips,
    n_lost as lost,
    n_gained as gained,
    round(greatest(flips_evidence, agreement_evidence), 2) as evidence,
    round(threshold, 2) as threshold,
    is_alarm as alarm,
    drift_round as since_round,
    cast(drift_began_at as date) as since_day,
    round(cost, 6) as cost,
    currency
from marts.judge_drift
where
    $asked_of_judge_drift
order by
    collection asc,
    sentinel asc,
    grader asc,
    round desc
