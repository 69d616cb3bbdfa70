{{ config(materialized='view') }}

with

queries as (
    select * from {{ ref('stg_queries') }}
),

pool as (
    select * from {{ ref('int_pool') }}
),

rubric_items as (
    select * from {{ ref('int_rubric_items') }}
),

-- what is asked about a query's passages: an item once, though several banks have it, and beside
-- the rubric the passage as a whole
asked as (
    select distinct
        collection,
        rubric_version,
        kind as target,
        query_id,
        item_id
    from rubric_items
    where item_text is not null
    union all
    select
        collection,
        0 as rubric_version,
        'direct' as target,
        query_id,
        '' as item_id
    from queries
)

select
    pool.collection,
    asked.rubric_version,
    asked.target,
    pool.query_id,
    pool.passage_id,
    pool.text_sha256,
    asked.item_id
from pool
inner join asked
    on
        pool.collection = asked.collection
        and pool.query_id = asked.query_id
where pool.text_sha256 is not null
