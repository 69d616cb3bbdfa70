-- Which attacks fool a judge, and how often?
-- :collection :grader
-- :probe = any                 a probe's name, as probe/25/1
-- Of each probe the newest round, most harmful attacks on passages that are not relevant first.
select
    collection,
    probe,
    grader,
    round,
    is_relevant as relevant,
    attack,
    n_pairs as pairs,
    round(mean_rise, 2) as rise,
    round(mean_rise_low, 2) as low,
    round(mean_rise_high, 2) as high,
    round(risen_share, 2) as risen,
    round(fallen_share, 2) as fallen,
    round(crossed_share, 2) as fooled,
    round(crossed_share_low, 2) as fooled_low,
    round(crossed_share_high, 2) as fooled_high,
    round(crossed_again_share, 2) as by_chance
from marts.judge_probes
where
    $asked_of_judge_probes
qualify
    rank() over (partition by collection, probe, grader order by round desc) = 1
order by
    collection asc,
    probe asc,
    grader asc,
    is_relevant asc,
    mean_rise desc,
    attack asc
