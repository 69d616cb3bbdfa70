-- Which system is best, under which labels?
-- :collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure :level
select
    board.collection,
    board.label_set,
    board.level,
    board.system,
    board.score_4dp as score,
    round(board.stderr, 4) as stderr,
    board.rank,
    board.n_answered || '/' || board.n_queries as answered,
    board.n_unlabelled_at_k as unlabelled,
    round(board.labelled_share, 3) as labelled_share,
    board.is_incomplete,
    families.circle,
    same_runs.same_as
from marts.leaderboard as board
inner join marts.usual_levels as levels using (collection, label_set)
left join marts.judge_families as families using (collection, label_set, system)
left join intermediate.int_same_runs as same_runs using (collection, system)
where
    board.measure = $measure
    and board.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_board
order by
    board.collection,
    board.label_set,
    board.rank,
    board.system
