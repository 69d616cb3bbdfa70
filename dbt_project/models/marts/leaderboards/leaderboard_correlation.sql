-- Predicted scores are rounded to 4 decimals first, because published figures were computed from
-- trec_eval's printed output and ties decide tau-b; the unrounded figures stand beside them.
with

leaderboard as (
    select * from {{ ref('leaderboard', v=2) }}
),

official_ranks as (
    select * from {{ ref('stg_official_ranks') }}
),

leaderboards as (
    select distinct
        collection,
        leaderboard
    from official_ranks
),

boards as (
    select
        leaderboard.collection,
        leaderboard.label_set,
        leaderboard.level,
        leaderboard.measure,
        leaderboards.leaderboard,
        leaderboard.system,
        leaderboard.score_4dp,
        leaderboard.score,
        official_ranks.rank as official_rank
    from leaderboard
    inner join leaderboards on leaderboard.collection = leaderboards.collection
    left join official_ranks
        on
            leaderboards.collection = official_ranks.collection
            and leaderboards.leaderboard = official_ranks.leaderboard
            and leaderboard.system = official_ranks.system
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

-- Spearman is Pearson over ranks, ties sharing the average
ranked as (
    select
        collection,
        label_set,
        level,
        measure,
        leaderboard,
        is_rounded,
        predicted,
        official,
        rank() over by_predicted + (count(*) over tied_predicted - 1) / 2 as predicted_rank,
        rank() over by_official + (count(*) over tied_official - 1) / 2 as official_rank
    from paired
    window
        by_predicted as (
            partition by collection, label_set, level, measure, leaderboard, is_rounded
            order by predicted desc
        ),
        by_official as (
            partition by collection, label_set, level, measure, leaderboard, is_rounded
            order by official desc
        ),
        tied_predicted as (
            partition by
                collection, label_set, level, measure, leaderboard, is_rounded, predicted
        ),
        tied_official as (
            partition by
                collection, label_set, level, measure, leaderboard, is_rounded, official
        )
),

spearman as (
    select
        collection,
        label_set,
        level,
        measure,
        leaderboard,
        is_rounded,
        count(*) as n_systems,
        count(distinct predicted) as n_predicted,
        count(distinct official) as n_official,
        -- undefined (null) when either side does not vary
        case
            when count(distinct predicted) > 1 and count(distinct official) > 1
                then corr(predicted_rank, official_rank order by predicted_rank, official_rank)
        end as rho
    from ranked
    group by all
),

-- Kendall's tau-b: concordant minus discordant pairs, over the geometric mean of the pairs that
-- are not tied on either side
kendall as (
    select
        one.collection,
        one.label_set,
        one.level,
        one.measure,
        one.leaderboard,
        one.is_rounded,
        sum(sign(one.predicted - other.predicted) * sign(one.official - other.official))
        / nullif(
            sqrt(
                count(*) filter (where one.predicted != other.predicted)
                * count(*) filter (where one.official != other.official)
            ),
            0
        ) as tau
    from paired as one
    inner join paired as other
        on
            one.collection = other.collection
            and one.label_set = other.label_set
            and one.level = other.level
            and one.measure = other.measure
            and one.leaderboard = other.leaderboard
            and one.is_rounded = other.is_rounded
            and one.system < other.system
    group by all
),

correlations as (
    select
        spearman.collection,
        spearman.label_set,
        spearman.level,
        spearman.measure,
        spearman.leaderboard,
        max(spearman.rho) filter (where spearman.is_rounded) as spearman,
        max(kendall.tau) filter (where spearman.is_rounded) as kendall,
        max(spearman.rho) filter (where not spearman.is_rounded) as spearman_unrounded,
        max(kendall.tau) filter (where not spearman.is_rounded) as kendall_unrounded,
        max(spearman.n_systems) as n_systems,
        max(spearman.n_predicted) filter (where spearman.is_rounded) as n_predicted,
        max(spearman.n_official) as n_official
    from spearman
    left join kendall
        on
            spearman.collection = kendall.collection
            and spearman.label_set = kendall.label_set
            and spearman.level = kendall.level
            and spearman.measure = kendall.measure
            and spearman.leaderboard = kendall.leaderboard
            and spearman.is_rounded = kendall.is_rounded
    group by all
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
    left_out.collection,
    left_out.label_set,
    left_out.level,
    left_out.measure,
    left_out.leaderboard,
    round(correlations.spearman, 10) as spearman,
    round(correlations.kendall, 10) as kendall,
    round(correlations.spearman_unrounded, 10) as spearman_unrounded,
    round(correlations.kendall_unrounded, 10) as kendall_unrounded,
    coalesce(correlations.n_systems, 0) as n_systems,
    case
        when coalesce(correlations.n_systems, 0) < 2
            then 'fewer than two systems have an official rank'
        when correlations.n_predicted = 1 then 'all scores are equal to 4 decimals'
        when correlations.n_official = 1 then 'all official ranks are equal'
    end as undefined_reason,
    coalesce(left_out.systems, []) as left_out
from left_out
left join correlations
    on
        left_out.collection = correlations.collection
        and left_out.label_set = correlations.label_set
        and left_out.level = correlations.level
        and left_out.measure = correlations.measure
        and left_out.leaderboard = correlations.leaderboard
