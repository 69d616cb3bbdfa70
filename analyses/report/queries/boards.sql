-- Every system's score and rank: a row per label set, relevance level, measure and system
select
    label_set,
    level,
    measure,
    system,
    score_4dp,
    round(stderr, 4) as stderr,
    rank,
    n_queries
from lake.marts.leaderboard
where collection = $collection
order by all
