-- How probable each level of judgment is at a step of the members' mean grade: isotonic regression
-- on what people judged. Its value at a step is the greatest, over the steps up to there, of the
-- least mean of the judgments from such a step to any at or above (Robertson, Wright and Dykstra
-- 1988). What people judged of a query has no say in the query's own grades.
with

votes as (
    select *
    from {{ ref('int_ensemble_votes') }}
    where rule = 'calibrated'
),

judged as (
    select
        votes.ensemble_id,
        votes.collection,
        votes.query_id,
        votes.step,
        judgments.relevance,
        unnest(range(1, collections.max_relevance + 1)) as level
    from votes
    inner join {{ source('raw', 'judgments') }} as judgments
        using (collection, query_id, passage_id)
    inner join {{ source('raw', 'collections') }} as collections using (collection)
),

counts as (
    select
        ensemble_id,
        collection,
        query_id,
        level,
        step,
        count(*) as n,
        count(*) filter (where relevance >= level) as n_reached
    from judged
    group by all
),

totals as (
    select
        ensemble_id,
        collection,
        level,
        step,
        sum(n) as n,
        sum(n_reached) as n_reached
    from counts
    group by all
),

-- whose judgments are left out: each query's, and for those that nobody judged none
queries as (
    select distinct
        ensemble_id,
        collection,
        query_id
    from counts
    union all
    select distinct
        ensemble_id,
        collection,
        '' as query_id
    from totals
),

others as (
    select
        queries.*,
        totals.level,
        totals.step,
        totals.n - coalesce(counts.n, 0) as n,
        totals.n_reached - coalesce(counts.n_reached, 0) as n_reached
    from queries
    inner join totals using (ensemble_id, collection)
    left join counts using (ensemble_id, collection, query_id, level, step)
    where totals.n > coalesce(counts.n, 0)
),

means as (
    select
        low.ensemble_id,
        low.collection,
        low.query_id,
        low.level,
        low.step as low_step,
        high.step,
        sum(high.n_reached) over up_to_high / sum(high.n) over up_to_high as mean
    from others as low
    inner join others as high using (ensemble_id, collection, query_id, level)
    where low.step <= high.step
    window up_to_high as (
        partition by
            low.ensemble_id, low.collection, low.query_id, low.level, low.step
        order by high.step
    )
),

least_means as (
    select
        *,
        min(mean) over (
            partition by ensemble_id, collection, query_id, level, low_step
            order by step desc
        ) as least_mean
    from means
),

fits as (
    select
        ensemble_id,
        collection,
        query_id,
        level,
        step,
        max(least_mean) as probability
    from least_means
    group by all
),

wanted as (
    select distinct
        votes.ensemble_id,
        votes.collection,
        votes.query_id,
        votes.step,
        coalesce(queries.query_id, '') as left_out
    from votes
    left join queries using (ensemble_id, collection, query_id)
),

-- at a step where nobody judged anything that of the one below; below all of them, of the lowest
found as (
    select
        wanted.ensemble_id,
        wanted.collection,
        wanted.query_id,
        wanted.step,
        fits.level,
        coalesce(
            max(fits.probability) filter (where fits.step <= wanted.step), min(fits.probability)
        ) as probability
    from wanted
    inner join fits
        on
            wanted.ensemble_id = fits.ensemble_id
            and wanted.collection = fits.collection
            and wanted.left_out = fits.query_id
    group by all
),

distributions as (
    select
        ensemble_id,
        collection,
        query_id,
        step,
        cast(count(*) filter (where probability > 0.5) as integer) as grade,
        round(sum(probability order by level), 10) as expected_grade,
        list_concat([1.0], list(probability order by level), [0.0]) as reached
    from found
    group by all
)

select
    * exclude (reached),
    list_transform(
        range(1, len(reached)), lambda place: round(reached[place] - reached[place + 1], 10)
    ) as probabilities
from distributions
