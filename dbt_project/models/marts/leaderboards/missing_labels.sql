with

-- what systems ranked within the collection's pool depth
pooled as (
    select
        ranked_entries.collection,
        ranked_entries.query_id,
        ranked_entries.passage_id,
        min(ranked_entries.rank) as best_rank,
        count(*) as n_systems
    from {{ ref('int_ranked_entries') }} as ranked_entries
    inner join {{ source('raw', 'collections') }} as collections using (collection)
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
inner join {{ ref('int_label_variants') }} as label_set_queries using (collection, query_id)
anti join {{ ref('int_labels') }} using (collection, query_id, passage_id, label_set)
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
order by
    pooled.n_systems desc,
    pooled.best_rank asc,
    pooled.query_id asc,
    pooled.passage_id asc
