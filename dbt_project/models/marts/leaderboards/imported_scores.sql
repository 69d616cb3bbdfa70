-- Boards whose means were computed elsewhere, in the leaderboard's words.
select
    collection,
    'scores:' || board as label_set,
    measure,
    system,
    round(score, 10) as score,
    round(score, 4) as score_4dp,
    rank() over (partition by collection, board, measure order by score desc) as rank,
    round(stderr, 10) as stderr
from {{ source('raw', 'imported_scores') }}
where query_id is null
