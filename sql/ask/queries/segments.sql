-- Which system is best on which segment of the queries?
-- :collection
-- :segment = any               a segment of the collection's queries
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure :level
select
    board.collection,
    board.label_set,
    board.segment,
    board.n_queries,
    round(board.weight_share, 3) as weight_share,
    board.system,
    board.score_4dp as score,
    round(board.stderr, 4) as stderr,
    board.rank
from marts.leaderboard_by_segment as board
inner join marts.usual_levels as levels using (collection, label_set)
where
    board.measure = $measure
    and board.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_board
order by
    board.collection,
    board.label_set,
    board.segment,
    board.rank,
    board.system
