-- Which label sets rank the systems alike?
-- :collection
-- :label_set = any             judge:NAME, assessor:NAME, or GRADER/vN/POLICY
-- :reference = any             the label set it is compared with; any: the assessors
-- :measure = nDCG@10           a measure
-- :level = usual               relevance level of the label set's scores, such as 2
with

-- tau over people's first systems alone, and what taking the label set's best for theirs loses
tops as (
    select
        collection,
        label_set,
        level,
        reference,
        max(kendall) filter (where k = 5) as kendall_first_5,
        max(kendall) filter (where k = 10) as kendall_first_10,
        max(kendall) filter (where k = 15) as kendall_first_15,
        any_value(best_system) as best_system,
        any_value(loss) as loss
    from marts.top_agreement
    where measure = $measure and not is_official
    group by all
)

select
    leaderboard_agreement.collection,
    leaderboard_agreement.label_set,
    leaderboard_agreement.level,
    leaderboard_agreement.reference,
    leaderboard_agreement.reference_level,
    leaderboard_agreement.spearman,
    leaderboard_agreement.kendall,
    leaderboard_agreement.tau_ap,
    leaderboard_agreement.rbo,
    leaderboard_agreement.n_systems,
    completeness.labelled_share,
    completeness.is_incomplete,
    leaderboard_agreement.undefined_reason,
    tops.kendall_first_5,
    tops.kendall_first_10,
    tops.kendall_first_15,
    tops.best_system,
    tops.loss
from marts.leaderboard_agreement
left join tops using (collection, label_set, level, reference)
inner join marts.usual_levels as levels using (collection, label_set)
left join marts.label_completeness as completeness using (collection, label_set)
where
    leaderboard_agreement.measure = $measure
    and leaderboard_agreement.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_leaderboard_agreement
order by
    leaderboard_agreement.collection asc,
    leaderboard_agreement.reference asc,
    leaderboard_agreement.kendall desc nulls last,
    leaderboard_agreement.label_set asc
