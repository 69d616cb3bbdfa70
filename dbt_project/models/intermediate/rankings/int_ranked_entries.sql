{{ config(materialized='parts', inputs='int_kept_rankings', in_order_of='query_id') }}

-- Kept are the entries that any mart can ask for: the head of each ranking, every passage that
-- somebody judged or graded, however deep, and the last one, whose rank is the ranking's length.
with

stale_rankings as (
    select * from {{ ref('int_kept_rankings') }}
),

ranked as (
    {{ ranked('stale_rankings') }}
)

select ranked.* exclude (depth, n_retrieved)
from ranked
left join {{ ref('int_judged_passages') }} as judged_passages
    using (collection, query_id, passage_id)
where
    ranked.rank <= ranked.depth
    or ranked.rank = ranked.n_retrieved
    or judged_passages.passage_id is not null
