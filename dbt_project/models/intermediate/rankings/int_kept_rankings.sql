with

-- how deep a ranking is looked at: the pool, or the deepest cutoff of the grid
depths as (
    select
        collection,
        greatest(
            default_pool_depth,
            (select coalesce(max(cutoff), 0) from {{ ref('measures') }})
        ) as depth
    from {{ source('raw', 'collections') }}
),

judged_queries as (
    select
        collection,
        query_id,
        {{ hash_of_rows('passage_id') }} as passages_hash
    from {{ ref('int_judged_passages') }}
    group by all
)

select
    hash(rankings.ranking_hash, depths.depth, judged_queries.passages_hash) as part,
    rankings.collection,
    rankings.system,
    rankings.query_id,
    depths.depth
from {{ ref('int_ranking_inputs') }} as rankings
inner join depths using (collection)
left join judged_queries using (collection, query_id)
