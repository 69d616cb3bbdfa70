-- What each version of the rubric moved: the labels of each label set, and its leaderboard by one
-- measure at its usual level
with

labels as (
    select
        rubric_version,
        grader,
        policy,
        count(*) filter (where label_after > label_before) as n_up,
        count(*) filter (where label_after < label_before) as n_down,
        count(*) filter (where label_before is null) as n_new,
        count(*) filter (where label_after is null) as n_gone
    from lake.marts.rubric_impact
    where collection = $collection
    group by all
),

shifts as (
    select shift.*
    from lake.marts.leaderboard_shift as shift
    inner join lake.marts.usual_levels as levels using (collection, level)
    where
        shift.collection = $collection
        and shift.measure = $measure
        and levels.label_set
        = concat(shift.grader, '/v', shift.rubric_version, '/', shift.policy)
),

boards as (
    select
        rubric_version,
        grader,
        policy,
        any_value(kendall) as kendall,
        any_value(n_missing_after) as n_missing,
        count(*) as n_systems,
        count(*) filter (where rank_before != rank_after) as n_ranks,
        list(
            struct_pack(system, rank_before, rank_after, score_before, score_after)
            order by
                abs(rank_after - rank_before) desc,
                abs(score_after - score_before) desc,
                system asc
        )[:3] as farthest
    from shifts
    group by all
)

select
    rubric_version,
    concat(grader, '/v', rubric_version, '/', policy) as label_set,
    coalesce(labels.n_up, 0) as n_up,
    coalesce(labels.n_down, 0) as n_down,
    coalesce(labels.n_new, 0) as n_new,
    coalesce(labels.n_gone, 0) as n_gone,
    boards.* exclude (rubric_version, grader, policy)
from boards
full join labels using (rubric_version, grader, policy)
order by
    rubric_version desc,
    label_set asc
