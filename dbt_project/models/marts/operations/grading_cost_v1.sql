{{ config(post_hook="{{ point_latest_here('grading_cost') }}") }}

with

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
        {{ summed_tokens() }}
    from {{ source('raw', 'grades') }} as grades
    inner join {{ ref('int_graders') }} as graders using (grader_id)
    left join {{ source('raw', 'submissions') }} as submissions
        on grades.run_id = submissions.submission_id
    where graders.engine != 'imported'
    group by all
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
    round({{ cost_of_tokens('used') }}, 10) as cost,
    prices.currency
from used
asof left join {{ ref('int_prices') }} as prices
    on
        used.model = prices.model
        and used.day >= prices.from_date
