select
    collection,
    leaderboard,
    system,
    rank,
    score
from {{ source('raw', 'official_ranks') }}
