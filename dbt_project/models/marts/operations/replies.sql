with

priced as (
    select
        replies.*,
        graders.grader,
        graders.model,
        prices.currency,
        (replies.prompt_tokens - coalesce(replies.cached_tokens, 0)) * prices.input_price
        + coalesce(replies.cached_tokens, 0) * prices.cached_price
        + replies.completion_tokens * prices.output_price as cost_online,
        if(replies.in_batch, prices.batch_share, 1) as share_paid
    from {{ source('raw', 'replies') }} as replies
    inner join {{ ref('int_recorded_graders') }} as graders using (grader_id)
    asof left join {{ ref('int_prices') }} as prices
        on
            graders.model = prices.model
            and cast(replies.asked_at as date) >= prices.from_date
)

select
    collection,
    grader,
    model,
    purpose,
    round,
    run_id,
    query_id,
    passage_id,
    item_id,
    attempt,
    state,
    is_read,
    reply,
    finish,
    error,
    prompt_tokens,
    cached_tokens,
    completion_tokens,
    round(cost_online * share_paid, 10) as cost,
    currency,
    seconds,
    in_batch,
    reply_id,
    asked_at
from priced
order by
    asked_at desc,
    collection asc,
    grader asc,
    query_id asc,
    passage_id asc,
    item_id asc,
    attempt desc
