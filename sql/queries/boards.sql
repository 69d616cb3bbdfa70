-- How does each system rank under each label set, side by side?
-- :collection = any            a collection
-- :measure = nDCG@10           as in the leaderboard's measure column
-- :level = min_relevant        labels at or above it are relevant, such as 2 (no effect on nDCG)
with

-- unless given, a label set's level is that of the report: min_relevant, or its highest label
-- where that is lower (or the level of the grid that is nearest)
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(any_value(collections.min_relevant), max(labels.label)) as level
    from marts.relevance_labels as labels
    inner join raw.collections as collections on labels.collection = collections.collection
    group by
        labels.collection,
        labels.label_set
),

levels as (
    select
        wanted.collection,
        wanted.label_set,
        coalesce(
            try_cast($level as integer),
            arg_min(grid.level, (abs(grid.level - wanted.level), grid.level))
        ) as level
    from wanted
    cross join intermediate.evaluation_levels as grid
    group by
        wanted.collection,
        wanted.label_set
),

board as (
    select
        leaderboard.collection,
        leaderboard.system,
        leaderboard.label_set,
        leaderboard.level,
        leaderboard.rank || '. ' || printf('%.4f', leaderboard.score_4dp) as place
    from marts.leaderboard
    inner join levels
        on
            leaderboard.collection = levels.collection
            and leaderboard.label_set = levels.label_set
            and leaderboard.level = levels.level
    where
        leaderboard.measure = $measure
        and ($collection is null or leaderboard.collection = $collection)
)

select
    collection,
    system,
    list_sort(list(distinct level)) as levels,
    string_agg(label_set || ' ' || place, '   ' order by label_set) as places
from board
group by
    collection,
    system
order by
    collection,
    min(place)
