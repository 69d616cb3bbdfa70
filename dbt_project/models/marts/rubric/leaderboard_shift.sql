-- What each version of a rubric did to the leaderboards.
with

boards as (
    select
        leaderboard.collection,
        label_sets.grader,
        label_sets.policy,
        label_sets.rubric_version,
        leaderboard.level,
        leaderboard.measure,
        leaderboard.system,
        leaderboard.score,
        leaderboard.rank
    from {{ ref('leaderboard') }} as leaderboard
    inner join {{ ref('label_sets') }} as label_sets using (collection, label_set)
    where label_sets.kind = 'rubric'
),

shifts as (
    select
        boards.* exclude (score, rank),
        boards_before.score as score_before,
        boards.score as score_after,
        boards_before.rank as rank_before,
        boards.rank as rank_after
    from boards
    inner join {{ ref('int_rubric_versions') }} as versions using (collection, rubric_version)
    inner join boards as boards_before
        using (collection, grader, policy, level, measure, system)
    where versions.previous_version = boards_before.rubric_version
),

correlations as (
    {{ rank_correlations(
        'shifts',
        ['collection', 'grader', 'policy', 'rubric_version', 'level', 'measure'],
        'score_before', 'score_after'
    ) }}
),

missing as (
    select
        collection,
        grader,
        rubric_version,
        cast(sum(n_missing) as bigint) as n_missing
    from {{ ref('rubric_progress') }}
    group by all
)

select
    shifts.*,
    correlations.kendall,
    coalesce(missing.n_missing, 0) as n_missing_after
from shifts
left join correlations using (collection, grader, policy, rubric_version, level, measure)
left join missing using (collection, grader, rubric_version)
