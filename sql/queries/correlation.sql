-- How well does each leaderboard of ours agree with the official one?
-- :collection = any            a collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure = any               as in the leaderboard's measure column
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
)

select
    correlation.collection,
    correlation.label_set,
    correlation.level,
    correlation.measure,
    correlation.leaderboard,
    round(correlation.spearman, 3) as spearman,
    round(correlation.kendall, 3) as kendall,
    correlation.n_systems,
    correlation.undefined_reason,
    correlation.left_out
from marts.leaderboard_correlation as correlation
inner join levels
    on
        correlation.collection = levels.collection
        and correlation.label_set = levels.label_set
        and correlation.level = levels.level
where
    correlation.measure not like 'Judged%'
    and ($collection is null or correlation.collection = $collection)
    and ($label_set is null or correlation.label_set = $label_set)
    and ($measure is null or correlation.measure = $measure)
order by
    correlation.collection,
    correlation.leaderboard,
    correlation.measure,
    correlation.label_set
