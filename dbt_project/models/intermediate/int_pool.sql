{{ config(materialized='view') }}

-- Reads staging views, and views of these: the grading planner reads it between builds, so that it
-- must follow raw.
with

rankings as (
    select * from {{ ref('int_rankings') }}
),

collections as (
    select * from {{ source('raw', 'collections') }}
),

systems as (
    select * from {{ source('raw', 'systems') }}
),

judgments as (
    select * from {{ source('raw', 'judgments') }}
),

queries as (
    select * from {{ ref('stg_queries') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
),

pooled as (
    -- a generated response is taken whole
    select
        rankings.collection,
        rankings.query_id,
        rankings.passage_id
    from rankings
    inner join collections using (collection)
    inner join systems using (collection, system)
    where
        systems.kind = 'generation'
        or rankings.rank <= collections.default_pool_depth
    union
    select
        judgments.collection,
        judgments.query_id,
        judgments.passage_id
    from judgments
    semi join queries using (collection, query_id)
    anti join left_out_passages using (collection, passage_id)
)

select
    pooled.collection,
    pooled.query_id,
    pooled.passage_id,
    passages.text_sha256
from pooled
left join passages using (collection, passage_id)
