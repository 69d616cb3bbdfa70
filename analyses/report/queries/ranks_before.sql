-- Ranks in an earlier release
select
    label_set,
    level,
    measure,
    system,
    rank
from lake.marts.leaderboard
where collection = $collection
