-- How does each system rank under each label set, side by side?
-- :collection :measure :level
with

board as (
    select
        leaderboard.collection,
        leaderboard.system,
        leaderboard.label_set,
        leaderboard.level,
        leaderboard.rank,
        leaderboard.rank || '. ' || printf('%.3f', leaderboard.score)
        || case when leaderboard.is_incomplete then ' (incomplete)' else '' end as place
    from marts.leaderboard
    inner join marts.usual_levels as levels using (collection, label_set)
    where
        leaderboard.level = coalesce(try_cast($level as integer), levels.level)
        and $asked_of_leaderboard
)

select
    collection,
    system,
    list_sort(list(distinct level)) as levels,
    string_agg(label_set || ' ' || place, '   ' order by label_set) as places
from board
group by all
order by
    collection,
    min(rank),
    system
