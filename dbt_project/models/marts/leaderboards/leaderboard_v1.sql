select
    collection,
    label_set,
    level,
    system,
    measure,
    score,
    score_4dp,
    score_answered,
    rank,
    n_queries,
    n_answered
from {{ ref('leaderboard', v=2) }}
