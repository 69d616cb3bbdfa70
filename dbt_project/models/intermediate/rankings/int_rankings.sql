-- Reads views of raw tables only: queues read it between builds, so that it must
-- follow raw.
with

rankings as (
    select
        systems.collection,
        systems.system,
        queries.query_id
    from {{ source('raw', 'systems') }} as systems
    inner join {{ ref('int_query_texts') }} as queries using (collection)
),

ranked as (
    {{ ranked('rankings') }}
)

select * from ranked
