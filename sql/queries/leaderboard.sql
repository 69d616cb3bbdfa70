-- Which system is best, under which labels?
-- :collection = any            a collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
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
)

select
    board.collection,
    board.label_set,
    board.level,
    board.system,
    board.score_4dp as score,
    round(board.stderr, 4) as stderr,
    board.rank,
    board.n_answered || '/' || board.n_queries as answered,
    board.n_unlabelled_at_k as unlabelled
from marts.leaderboard as board
inner join levels
    on
        board.collection = levels.collection
        and board.label_set = levels.label_set
        and board.level = levels.level
where
    board.measure = $measure
    and ($collection is null or board.collection = $collection)
    and ($label_set is null or board.label_set = $label_set)
order by
    board.collection,
    board.label_set,
    board.rank,
    board.system
