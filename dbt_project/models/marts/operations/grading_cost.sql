with

used as (
    {{ used_by_graders('item_id') }}
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
