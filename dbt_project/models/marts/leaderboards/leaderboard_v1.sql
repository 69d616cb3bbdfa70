with

leaderboard as (
    select * from {{ ref('leaderboard', v=2) }}
)

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
from leaderboard
