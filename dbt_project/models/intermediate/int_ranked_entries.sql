-- Ranks are those of trec_eval: by score as a 32-bit float, then passage id bytewise, both
-- descending. Kept are the entries that any mart can ask for: the head of each ranking, and every
-- labelled passage however deep.
with

collections as (
    select * from {{ ref('stg_collections') }}
),

run_entries as (
    select * from {{ ref('stg_run_entries') }}
),

near_duplicates as (
    select * from {{ ref('stg_near_duplicates') }}
),

labels as (
    select * from {{ ref('int_labels') }}
),

grid as (
    select * from {{ ref('evaluation_grid') }}
),

left_out as (
    select
        near_duplicates.collection,
        near_duplicates.passage_id
    from near_duplicates
    inner join collections on near_duplicates.collection = collections.collection
    where collections.leave_out_near_duplicates
),

labelled_passages as (
    select distinct
        collection,
        query_id,
        passage_id,
        true as is_labelled
    from labels
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

answered as (
    select distinct
        collection,
        system,
        query_id
    from run_entries
),

-- one whole number per ranking: sorting by it is several times faster than by three strings
rankings as (
    select
        collection,
        system,
        query_id,
        row_number() over () as ranking_id
    from answered
),

numbered_entries as (
    select
        rankings.ranking_id,
        run_entries.passage_id,
        run_entries.ranking_score
    from run_entries
    inner join rankings
        on
            run_entries.collection = rankings.collection
            and run_entries.system = rankings.system
            and run_entries.query_id = rankings.query_id
    anti join left_out
        on
            run_entries.collection = left_out.collection
            and run_entries.passage_id = left_out.passage_id
),

ranked_entries as (
    select
        ranking_id,
        passage_id,
        row_number() over (
            partition by ranking_id
            order by ranking_score desc, passage_id desc
        ) as rank
    from numbered_entries
)

select
    rankings.collection,
    rankings.system,
    rankings.query_id,
    ranked_entries.passage_id,
    cast(ranked_entries.rank as integer) as rank
from ranked_entries
inner join rankings on ranked_entries.ranking_id = rankings.ranking_id
inner join depths on rankings.collection = depths.collection
left join labelled_passages
    on
        rankings.collection = labelled_passages.collection
        and rankings.query_id = labelled_passages.query_id
        and ranked_entries.passage_id = labelled_passages.passage_id
where
    ranked_entries.rank <= depths.depth
    or labelled_passages.is_labelled
