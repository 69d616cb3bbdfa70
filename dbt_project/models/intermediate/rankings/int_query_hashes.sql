-- A grade has the hash of what its prompt read of the query, so that it outlives a change of the
-- rest; of the query's text alone it is that text's own.
with

slots as (
    select unnest([
        [], ['query'], ['description'], ['narrative'],
        ['query', 'description'], ['query', 'narrative'], ['description', 'narrative'],
        ['query', 'description', 'narrative']
    ]) as slots
)

select
    queries.collection,
    queries.query_id,
    slots.slots,
    case slots.slots
        when [] then null
        when ['query'] then sha256(queries.text)
        else sha256(to_json(list_filter([
            { 'slot': 'query', 'text': queries.text },
            { 'slot': 'description', 'text': coalesce(queries.description, '') },
            { 'slot': 'narrative', 'text': coalesce(queries.narrative, '') }
        ], lambda one: list_contains(slots.slots, one.slot))))
    end as query_sha256
from {{ source('raw', 'queries') }} as queries
cross join slots
