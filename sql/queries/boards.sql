-- How does each system rank under each label set, side by side?
-- :collection = any        a collection
-- :measure = nDCG@10       as in the leaderboard's measure column
-- :level = 1               labels at or above it count as relevant (no effect on nDCG)
with

board as (
    select
        collection,
        system,
        label_set,
        rank || '. ' || printf('%.4f', score_4dp) as place
    from marts.leaderboard
    where
        measure = $measure
        and level = cast($level as integer)
        and ($collection is null or collection = $collection)
)

select
    collection,
    system,
    string_agg(label_set || ' ' || place, '   ' order by label_set) as places
from board
group by
    collection,
    system
order by
    collection,
    min(place)
