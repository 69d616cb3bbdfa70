{{ config(materialized='view') }}

with

collections as (
    select * from {{ source('raw', 'collections') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

label_set_queries as (
    select * from {{ ref('int_label_variants') }}
),

labels as (
    select * from {{ ref('int_labels') }}
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
    inner join collections using (collection)
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
inner join label_set_queries using (collection, query_id)
anti join labels using (collection, query_id, passage_id, label_set)
left join passages using (collection, passage_id)
order by
    pooled.n_systems desc,
    pooled.best_rank asc,
    pooled.query_id asc,
    pooled.passage_id asc
