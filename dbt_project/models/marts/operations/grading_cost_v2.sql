{{ config(materialized='view', post_hook="{{ point_latest_here('grading_cost') }}") }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
),

prices as (
    select * from {{ ref('int_prices') }}
),

used as (
    select
        grades.collection,
        graders.grader,
        cast(grades.graded_at as date) as day,
        graders.model,
        grades.query_id,
        grades.item_id,
        count(*) as n_pairs,
        count(*) filter (where grades.status = 'failed') as n_failed,
        cast(coalesce(sum(grades.prompt_tokens), 0) as bigint) as prompt_tokens,
        cast(coalesce(sum(grades.cached_tokens), 0) as bigint) as cached_tokens,
        cast(coalesce(sum(grades.completion_tokens), 0) as bigint) as completion_tokens,
        -- an engine of one's own may not count
        bool_and(
            grades.status = 'failed'
            or (grades.prompt_tokens is not null and grades.completion_tokens is not null)
        ) as is_counted
    from grades
    inner join graders using (grader_id)
    where graders.engine != 'imported'
    group by
        grades.collection,
        graders.grader,
        cast(grades.graded_at as date),
        graders.model,
        grades.query_id,
        grades.item_id
)

select
    used.collection,
    used.grader,
    used.day,
    used.model,
    used.query_id,
    used.item_id,
    used.n_pairs,
    used.n_failed,
    used.prompt_tokens,
    used.cached_tokens,
    used.completion_tokens,
    case
        when used.is_counted
            then round(
                (used.prompt_tokens - used.cached_tokens) * prices.input_price
                + used.cached_tokens * prices.cached_price
                + used.completion_tokens * prices.output_price,
                10
            )
    end as cost,
    prices.currency
from used
asof left join prices on used.model = prices.model and used.day >= prices.from_date
