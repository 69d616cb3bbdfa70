-- Does a label set favour some systems? A judge may be generous to all alike, which harms no
-- leaderboard; what counts is how much more a system gains than systems do on average.
with

compared_scores as (
    select * from {{ ref('int_compared_scores') }}
),

boards as (
    select distinct
        collection,
        label_set,
        assessor,
        level,
        measure,
        query_id
    from compared_scores
),

-- A system that left a query unanswered scores 0 on both sides. As decimals and in a fixed order,
-- sums do not depend on which thread adds first.
residuals as (
    select
        boards.*,
        systems.system,
        coalesce(cast(compared_scores.value as decimal(11, 10)), 0) as score,
        coalesce(cast(compared_scores.human_value as decimal(11, 10)), 0) as human_score,
        score - human_score as residual
    from boards
    inner join {{ source('raw', 'systems') }} as systems using (collection)
    left join compared_scores
        using (collection, label_set, assessor, level, measure, query_id, system)
),

favours as (
    select
        *,
        residual - avg(residual) over (
            partition by collection, label_set, assessor, level, measure, query_id
        ) as favour
    from residuals
)

select
    collection,
    label_set,
    assessor,
    cast(level as integer) as level,
    measure,
    system,
    round(avg(score), 10) as score,
    round(avg(human_score), 10) as human_score,
    round(avg(residual), 10) as residual,
    round(avg(favour order by query_id), 10) as favour,
    round(stddev_samp(favour order by query_id) / sqrt(count(*)), 10) as stderr,
    count(*) as n_queries
from favours
group by all
