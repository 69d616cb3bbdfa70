-- Ranks are those of trec_eval: by score as a 32-bit float, then passage id bytewise, both
-- descending. Kept are the entries that any mart can ask for: the head of each ranking, every
-- labelled passage however deep, and the last one, whose rank is the ranking's length.
with

collections as (
    select * from {{ ref('stg_collections') }}
),

queries as (
    select * from {{ ref('stg_queries') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

run_entries as (
    select * from {{ ref('stg_run_entries') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
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

-- whole numbers for queries and rankings: sorting and joining by them is several times faster
-- than by strings
numbered_queries as (
    select
        collection,
        query_id,
        row_number() over (order by collection, query_id) as query_number
    from queries
),

rankings as (
    select
        systems.collection,
        systems.system,
        numbered_queries.query_id,
        numbered_queries.query_number,
        depths.depth,
        row_number() over (
            order by systems.collection, systems.system, numbered_queries.query_id
        ) as ranking_id
    from systems
    inner join numbered_queries on systems.collection = numbered_queries.collection
    inner join depths on systems.collection = depths.collection
),

labelled_passages as (
    select distinct
        numbered_queries.query_number,
        labels.passage_id,
        true as is_labelled
    from labels
    inner join numbered_queries
        on
            labels.collection = numbered_queries.collection
            and labels.query_id = numbered_queries.query_id
),

numbered_entries as (
    select
        rankings.ranking_id,
        rankings.query_number,
        rankings.depth,
        run_entries.passage_id,
        run_entries.ranking_score
    from run_entries
    inner join rankings
        on
            run_entries.collection = rankings.collection
            and run_entries.system = rankings.system
            and run_entries.query_id = rankings.query_id
    anti join left_out_passages
        on
            run_entries.collection = left_out_passages.collection
            and run_entries.passage_id = left_out_passages.passage_id
),

ranked_entries as (
    select
        ranking_id,
        query_number,
        depth,
        passage_id,
        row_number() over (
            partition by ranking_id
            order by {{ ranking_order() }}
        ) as rank,
        count(*) over (partition by ranking_id) as n_retrieved
    from numbered_entries
),

kept_entries as (
    select
        ranked_entries.ranking_id,
        ranked_entries.passage_id,
        ranked_entries.rank
    from ranked_entries
    left join labelled_passages
        on
            ranked_entries.query_number = labelled_passages.query_number
            and ranked_entries.passage_id = labelled_passages.passage_id
    where
        ranked_entries.rank <= ranked_entries.depth
        or ranked_entries.rank = ranked_entries.n_retrieved
        or labelled_passages.is_labelled
)

select
    rankings.collection,
    rankings.system,
    rankings.query_id,
    kept_entries.passage_id,
    cast(kept_entries.rank as integer) as rank
from kept_entries
inner join rankings on kept_entries.ranking_id = rankings.ranking_id
