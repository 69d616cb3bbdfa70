{{ config(materialized='table') }}

-- Label sets that label a query alike share its scores.
with

label_set_queries as (
    select
        collection,
        label_set,
        query_id,
        {{ hash_of_rows('passage_id, label, gain') }} as labels_hash,
        greatest(max(max(label)) over (partition by collection, label_set), 4) as top_label
    from {{ ref('int_labels') }}
    group by collection, label_set, query_id
)

select
    * exclude (labels_hash),
    hash(
        collection, query_id, top_label, {{ hash_of_what_is_computed() }}, labels_hash
    ) as variant
from label_set_queries
