{{ config(materialized='view') }}

-- Reads staging views, and views of these: the grading planner reads it between builds, so that it
-- must follow raw.
with

pooled as (
    -- a generated response is taken whole
    select
        rankings.collection,
        rankings.query_id,
        rankings.passage_id
    from {{ ref('int_rankings') }} as rankings
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    inner join {{ source('raw', 'systems') }} as systems using (collection, system)
    where
        systems.kind = 'generation'
        or rankings.rank <= collections.default_pool_depth
    union
    select
        judgments.collection,
        judgments.query_id,
        judgments.passage_id
    from {{ source('raw', 'judgments') }} as judgments
    semi join {{ ref('stg_queries') }} using (collection, query_id)
    anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
)

select
    pooled.collection,
    pooled.query_id,
    pooled.passage_id,
    passages.text_sha256
from pooled
left join {{ ref('stg_passages') }} as passages using (collection, passage_id)
