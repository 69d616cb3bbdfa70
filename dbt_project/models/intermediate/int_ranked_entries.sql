-- Kept are the entries that any mart can ask for: the head of each ranking, every labelled passage
-- however deep, and the last one, whose rank is the ranking's length.
with

collections as (
    select * from {{ ref('stg_collections') }}
),

rankings as (
    select * from {{ ref('int_rankings') }}
),

labels as (
    select * from {{ ref('int_labels') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

-- how deep a ranking is looked at: the pool, or the deepest cutoff of the grid
depths as (
    select
        collection,
        greatest(
            default_pool_depth,
            (select coalesce(max(cutoff), 0) from grid)
        ) as depth
    from collections
),

labelled_passages as (
    select distinct
        collection,
        query_id,
        passage_id,
        true as is_labelled
    from labels
)

select
    rankings.collection,
    rankings.system,
    rankings.query_id,
    rankings.passage_id,
    rankings.rank
from rankings
inner join depths using (collection)
left join labelled_passages using (collection, query_id, passage_id)
where
    rankings.rank <= depths.depth
    or rankings.rank = rankings.n_retrieved
    or labelled_passages.is_labelled
