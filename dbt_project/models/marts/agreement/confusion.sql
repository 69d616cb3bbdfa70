{{ config(materialized='view') }}

with

confusions as (
    select * from {{ ref('int_confusions') }}
),

label_pairs as (
    select * from {{ ref('int_label_pairs') }}
)

select
    confusions.collection,
    confusions.label_set,
    confusions.reference,
    label_pairs.assessor,
    confusions.is_sampled,
    cast(confusions.label as integer) as label,
    cast(confusions.judgment as integer) as judgment,
    cast(sum(confusions.n) as bigint) as n
from confusions
inner join label_pairs using (collection, label_set, reference)
group by all
