{{ config(materialized='view') }}

-- Reads staging views only: the grading planner reads the pool between builds, so that it must
-- follow raw.
with

queries as (
    select * from {{ ref('stg_queries') }}
),

systems as (
    select * from {{ source('raw', 'systems') }}
),

rankings as (
    select
        systems.collection,
        systems.system,
        queries.query_id
    from systems
    inner join queries using (collection)
),

ranked as (
    {{ ranked('rankings') }}
)

select
    collection,
    system,
    query_id,
    passage_id,
    rank,
    n_retrieved
from ranked
