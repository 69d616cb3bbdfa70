{{ config(materialized='table') }}

-- Clicks over expected clicks (COEC; Zhang and Jones, "Comparing click logs and editorial labels
-- for training query rewriting", WWW 2007): what is shown at a position gets as many clicks as
-- anything there, unless people like it better or less. The interval is over days.
with

click_rates as (
    select
        collection,
        position,
        sum(n_clicks) / sum(n_impressions) as click_rate
    from {{ source('raw', 'clicks') }}
    group by all
),

of_days as (
    select
        clicks.collection,
        clicks.query_id,
        clicks.passage_id,
        clicks.day,
        sum(clicks.n_impressions) as n_impressions,
        sum(clicks.n_clicks) as n_clicks,
        sum(clicks.n_impressions * click_rates.click_rate) as n_expected
    from {{ source('raw', 'clicks') }} as clicks
    inner join click_rates using (collection, position)
    group by all
),

counts as (
    select
        collection,
        query_id,
        passage_id,
        count(*) as n_days,
        sum(n_impressions) as total_impressions,
        sum(n_clicks) as total_clicks,
        sum(n_expected order by day) as total_expected,
        total_clicks / nullif(total_expected, 0) as coec,
        sum(n_clicks * n_clicks)
        - 2 * coec * sum(n_clicks * n_expected order by day)
        + coec * coec * sum(n_expected * n_expected order by day) as squares
    from of_days
    group by all
),

-- How many times a Poisson count's variance that of the clicks is, by how days differ: once at
-- least (McCullagh and Nelder, Generalized Linear Models (1989), section 6.2). So many clicks that
-- each stand alone say as much.
dispersed as (
    select
        *,
        {{ student_t_975('n_days - 1') }} as reach,
        greatest(1, squares * n_days / (n_days - 1) / nullif(total_clicks, 0)) as dispersion,
        total_clicks / dispersion as alone
    from counts
    where total_expected > 0
),

-- Byar's approximation for a Poisson count (Breslow and Day, "Statistical methods in cancer
-- research" II, 1987, section 2.3), with Student's t in the place of 1.96
bounds as (
    select
        *,
        if(
            total_clicks = 0,
            0,
            alone * pow(greatest(0, 1 - 1 / (9 * alone) - reach / (3 * sqrt(alone))), 3)
        ) as least_alone,
        (alone + 1) * pow(1 - 1 / (9 * (alone + 1)) + reach / (3 * sqrt(alone + 1)), 3)
            as most_alone
    from dispersed
),

bins as (
    select
        cast(least_coec as double) as least_coec,
        cast(label as integer) as label,
        cast(least_expected as double) as least_expected
    from {{ ref('click_bins') }}
)

select
    bounds.collection,
    bounds.query_id,
    bounds.passage_id,
    cast(bounds.total_impressions as bigint) as n_impressions,
    cast(bounds.total_clicks as bigint) as n_clicks,
    round(bounds.total_expected, 10) as n_expected,
    bounds.n_days,
    round(bounds.coec, 10) as coec,
    case
        when bounds.n_days > 1
            then round(bounds.least_alone * bounds.dispersion / bounds.total_expected, 10)
    end as coec_low,
    case
        when bounds.n_days > 1
            then round(bounds.most_alone * bounds.dispersion / bounds.total_expected, 10)
    end as coec_high,
    case when bounds.total_expected >= bins.least_expected then bins.label end as label
from bounds
asof left join bins on round(bounds.coec, 10) >= bins.least_coec
