{{ config(materialized='view') }}

with

collections as (
    select * from {{ ref('stg_collections') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

labels as (
    select * from {{ ref('int_labels') }}
),

label_set_queries as (
    select distinct
        collection,
        label_set,
        query_id
    from labels
),

-- what systems ranked within the collection's pool depth
pooled as (
    select
        ranked_entries.collection,
        ranked_entries.query_id,
        ranked_entries.passage_id,
        min(ranked_entries.rank) as best_rank,
        count(*) as n_systems
    from ranked_entries
    inner join collections on ranked_entries.collection = collections.collection
    where ranked_entries.rank <= collections.default_pool_depth
    group by all
)

select
    pooled.collection,
    label_set_queries.label_set,
    pooled.query_id,
    pooled.passage_id,
    pooled.n_systems,
    pooled.best_rank,
    passages.passage_text as text
from pooled
inner join label_set_queries
    on
        pooled.collection = label_set_queries.collection
        and pooled.query_id = label_set_queries.query_id
anti join labels
    on
        pooled.collection = labels.collection
        and pooled.query_id = labels.query_id
        and pooled.passage_id = labels.passage_id
        and label_set_queries.label_set = labels.label_set
left join passages
    on
        pooled.collection = passages.collection
        and pooled.passage_id = passages.passage_id
order by
    pooled.n_systems desc,
    pooled.best_rank asc,
    pooled.query_id asc,
    pooled.passage_id asc
