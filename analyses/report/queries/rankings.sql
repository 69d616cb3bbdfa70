-- Each system's ranking of each query, from one query to another, down to the pool depth; generated
-- responses whole
with

entries as (
    select
        collection,
        query_id,
        system,
        passage_id,
        rank,
        max(rank) over (partition by query_id, system) as n_retrieved
    from lake.marts.rankings
    where
        collection = $collection
        and query_id between $first_query and $last_query
),

-- below its head, a ranking is kept with gaps
heads as (
    select entries.*
    from entries
    inner join lake.raw.systems as systems using (collection, system)
    inner join lake.raw.collections as collections using (collection)
    where
        entries.rank <= collections.default_pool_depth
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
group by all
order by
    query_id,
    system
