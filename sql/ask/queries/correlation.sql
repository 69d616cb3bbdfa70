-- How well does each of our leaderboards agree with the official one?
-- :collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure = nDCG@10           as in the leaderboard's measure column, or any
-- :level
select
    correlation.collection,
    correlation.label_set,
    correlation.level,
    correlation.measure,
    correlation.leaderboard,
    round(correlation.spearman, 3) as spearman,
    round(correlation.kendall, 3) as kendall,
    correlation.n_systems,
    round(correlation.labelled_share, 3) as labelled_share,
    correlation.is_incomplete,
    correlation.undefined_reason,
    correlation.left_out
from marts.leaderboard_correlation as correlation
left join marts.usual_levels as levels using (collection, label_set)
where
    correlation.measure not in (
        select int_measures.measure from intermediate.int_measures
        where int_measures.kind = 'labelled'
    )
    and correlation.level = coalesce(try_cast($level as integer), levels.level, 0)
    and $asked_of_correlation
order by
    correlation.collection,
    correlation.leaderboard,
    correlation.measure,
    correlation.label_set
