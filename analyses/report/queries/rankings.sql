-- Each system's ranking of each query, from one query to another, down to the pool depth; generated
-- responses whole
with

collections as (
    select default_pool_depth as depth
    from lake.raw.collections
    where collection = $collection
),

systems as (
    select
        system,
        kind
    from lake.raw.systems
    where collection = $collection
),

entries as (
    select
        query_id,
        system,
        passage_id,
        rank,
        max(rank) over (partition by query_id, system) as n_retrieved
    from lake.intermediate.int_ranked_entries
    where
        collection = $collection
        and query_id between $first_query and $last_query
),

-- below its head, a ranking is kept with gaps
heads as (
    select entries.*
    from entries
    inner join systems using (system)
    cross join collections
    where
        entries.rank <= collections.depth
        or systems.kind = 'generation'
    qualify
        entries.rank = row_number() over (
            partition by entries.query_id, entries.system order by entries.rank
        )
)

select
    query_id,
    system,
    any_value(n_retrieved) as n_retrieved,
    list(passage_id order by rank) as passages
from heads
group by
    query_id,
    system
order by
    query_id,
    system
