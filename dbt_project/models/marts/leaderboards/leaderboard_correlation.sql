{{ config(materialized='table') }}

-- Predicted scores are rounded to 4 decimals first, because published figures were computed from
-- trec_eval's printed output and ties decide tau-b; the unrounded figures stand beside them.
with

official_ranks as (
    select * from {{ source('raw', 'official_ranks') }}
),

leaderboards as (
    select distinct
        collection,
        leaderboard
    from official_ranks
),

-- boards that were computed elsewhere know no level
scored as (
    select
        collection,
        label_set,
        level,
        measure,
        system,
        score_4dp,
        score
    from {{ ref('leaderboard') }}
    union all
    select
        collection,
        label_set,
        0 as level,
        measure,
        system,
        score_4dp,
        score
    from {{ ref('imported_scores') }}
),

boards as (
    select
        scored.collection,
        scored.label_set,
        scored.level,
        scored.measure,
        leaderboards.leaderboard,
        scored.system,
        scored.score_4dp,
        scored.score,
        official_ranks.rank as official_rank
    from scored
    inner join leaderboards using (collection)
    left join official_ranks using (collection, leaderboard, system)
),

paired as (
    select
        collection,
        label_set,
        level,
        measure,
        leaderboard,
        system,
        variants.is_rounded,
        -- both high for good systems
        case when variants.is_rounded then score_4dp else score end as predicted,
        -official_rank as official
    from boards
    cross join (values (true), (false)) as variants (is_rounded)
    where official_rank is not null
),

correlations as (
    {{ rank_correlations(
        'paired',
        ['collection', 'label_set', 'level', 'measure', 'leaderboard', 'is_rounded'],
        'predicted', 'official'
    ) }}
),

rounded as (
    select * from correlations
    where is_rounded
),

unrounded as (
    select * from correlations
    where not is_rounded
),

left_out as (
    select
        collection,
        label_set,
        level,
        measure,
        leaderboard,
        list_sort(list(system) filter (where official_rank is null)) as systems
    from boards
    group by all
)

select
    left_out.* exclude (systems),
    rounded.spearman,
    rounded.kendall,
    rounded.tau_ap,
    rounded.rbo,
    unrounded.spearman as spearman_unrounded,
    unrounded.kendall as kendall_unrounded,
    coalesce(rounded.n_systems, 0) as n_systems,
    case
        when coalesce(rounded.n_systems, 0) < 2
            then 'fewer than two systems have an official rank'
        when rounded.is_one_constant then 'all scores are equal to 4 decimals'
        when rounded.is_other_constant then 'all official ranks are equal'
    end as undefined_reason,
    coalesce(left_out.systems, []) as left_out,
    completeness.labelled_share,
    completeness.is_incomplete
from left_out
left join rounded using (collection, label_set, level, measure, leaderboard)
left join unrounded using (collection, label_set, level, measure, leaderboard)
left join {{ ref('label_completeness') }} as completeness using (collection, label_set)
