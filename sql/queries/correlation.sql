-- How well does each leaderboard of ours agree with the official one?
-- :collection = any        a collection
-- :measure = any           as in the leaderboard's measure column
-- :level = 1               labels at or above it count as relevant (no effect on nDCG)
select
    collection,
    label_set,
    measure,
    leaderboard,
    round(spearman, 3) as spearman,
    round(kendall, 3) as kendall,
    n_systems,
    undefined_reason,
    left_out
from marts.leaderboard_correlation
where
    level = cast($level as integer)
    and measure not like 'Judged%'
    and ($collection is null or collection = $collection)
    and ($measure is null or measure = $measure)
order by
    collection,
    leaderboard,
    measure,
    label_set
