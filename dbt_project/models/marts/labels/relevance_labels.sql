{{ config(materialized='view') }}

with

labels as (
    select * from {{ ref('int_labels') }}
)

select
    collection,
    label_set,
    query_id,
    passage_id,
    cast(label as integer) as label,
    n_items,
    n_missing
from labels
