-- How did editing the rubric change the systems' ranks?
-- :collection :grader :policy
-- :rubric_version = newest     the later of two consecutive versions
-- :measure :level
select
    shift.collection,
    shift.grader,
    shift.policy,
    shift.rubric_version,
    shift.level,
    shift.system,
    round(shift.score_before, 4) as score_before,
    round(shift.score_after, 4) as score_after,
    shift.rank_before,
    shift.rank_after,
    round(shift.kendall, 3) as kendall,
    shift.n_missing_after as n_missing
from marts.leaderboard_shift as shift
inner join marts.usual_levels as levels
    on
        shift.collection = levels.collection
        and shift.grader || '/v' || shift.rubric_version || '/' || shift.policy = levels.label_set
where
    shift.measure = $measure
    and shift.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_shift
order by
    shift.collection asc,
    shift.grader asc,
    shift.policy asc,
    shift.rubric_version desc,
    shift.rank_after asc,
    shift.system asc
