{{ config(materialized='table') }}

-- Clicks over expected clicks (COEC; Zhang and Jones, "Comparing click logs and editorial labels
-- for training query rewriting", WWW 2007): what is shown at a position gets as many clicks as
-- anything there, unless people like it better or less. The interval is that of a Poisson count by
-- Byar's approximation (Breslow and Day, "Statistical methods in cancer research" II, 1987,
-- section 2.3).
with

click_rates as (
    select
        collection,
        position,
        sum(n_clicks) / sum(n_impressions) as click_rate
    from {{ source('raw', 'clicks') }}
    group by all
),

counts as (
    select
        clicks.collection,
        clicks.query_id,
        clicks.passage_id,
        sum(clicks.n_impressions) as n_impressions,
        sum(clicks.n_clicks) as n_clicks,
        sum(clicks.n_impressions * click_rates.click_rate) as n_expected
    from {{ source('raw', 'clicks') }} as clicks
    inner join click_rates using (collection, position)
    group by all
),

bounds as (
    select
        *,
        if(
            n_clicks = 0,
            0,
            n_clicks * pow(1 - 1 / (9 * n_clicks) - 1.959964 / (3 * sqrt(n_clicks)), 3)
        ) as least_clicks,
        (n_clicks + 1)
        * pow(1 - 1 / (9 * (n_clicks + 1)) + 1.959964 / (3 * sqrt(n_clicks + 1)), 3) as most_clicks
    from counts
    where n_expected > 0
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
    cast(bounds.n_impressions as bigint) as n_impressions,
    cast(bounds.n_clicks as bigint) as n_clicks,
    round(bounds.n_expected, 10) as n_expected,
    round(bounds.n_clicks / bounds.n_expected, 10) as coec,
    round(bounds.least_clicks / bounds.n_expected, 10) as coec_low,
    round(bounds.most_clicks / bounds.n_expected, 10) as coec_high,
    case when bounds.n_expected >= bins.least_expected then bins.label end as label
from bounds
asof left join bins on round(bounds.n_clicks / bounds.n_expected, 10) >= bins.least_coec
