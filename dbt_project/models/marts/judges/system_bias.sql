-- Does a label set favour some systems? A judge may be generous to all alike, which harms no
-- leaderboard; what counts is how much more a system gains than systems do on average.
with

favours as (
    select
        *,
        residual - avg(residual) over (
            partition by collection, label_set, assessor, level, measure, query_id
        ) as favour
    from {{ ref('int_residuals') }}
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
