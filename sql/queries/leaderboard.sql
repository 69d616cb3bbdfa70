-- Which system is best, under which labels?
-- :collection = any        a collection
-- :label_set = any         assessor:NAME or judge:NAME
-- :measure = nDCG@10       as in the leaderboard's measure column
-- :level = 1               labels at or above it count as relevant (no effect on nDCG)
select
    collection,
    label_set,
    system,
    score_4dp as score,
    round(stderr, 4) as stderr,
    rank,
    n_answered || '/' || n_queries as answered,
    n_unlabelled_at_k as unlabelled
from marts.leaderboard
where
    measure = $measure
    and level = cast($level as integer)
    and ($collection is null or collection = $collection)
    and ($label_set is null or label_set = $label_set)
order by
    collection,
    label_set,
    rank,
    system
