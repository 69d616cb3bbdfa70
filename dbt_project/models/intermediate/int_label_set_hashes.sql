{{ config(materialized='view') }}

with

label_variants as (
    select * from {{ ref('int_label_variants') }}
)

select
    collection,
    label_set,
    {{ hash_of_rows('variant') }} as labels_hash
from label_variants
group by all
