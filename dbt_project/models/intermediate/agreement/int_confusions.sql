{{ config(materialized='parts', inputs='int_label_pairs') }}

-- Agreement is looked at only where there are both: an unjudged passage is not a non-relevant one.
with

labels as (
    select * from {{ ref('int_labels') }}
),

stale_pairs as (
    select * from {{ ref('int_label_pairs') }}
),

reference_labels as (
    select labels.* rename (label_set as reference)
    from labels
    semi join stale_pairs
        on
            labels.collection = stale_pairs.collection
            and labels.label_set = stale_pairs.reference
),

compared as (
    select
        stale_pairs.part,
        stale_pairs.collection,
        stale_pairs.label_set,
        stale_pairs.reference,
        one.query_id,
        one.passage_id,
        one.label,
        reference_labels.label as judgment
    from labels as one
    inner join stale_pairs using (collection, label_set)
    inner join reference_labels using (collection, reference, query_id, passage_id)
),

-- what a judge's label rubrics were distilled from says nothing about its agreement
sampled as (
    select distinct
        stale_pairs.collection,
        stale_pairs.label_set,
        stale_pairs.reference,
        sampled_pairs.query_id,
        sampled_pairs.passage_id
    from stale_pairs
    inner join {{ ref('sampled_pairs') }} as sampled_pairs
        on
            stale_pairs.collection = sampled_pairs.collection
            and sampled_pairs.label_set in (stale_pairs.label_set, stale_pairs.reference)
)

select
    compared.part,
    compared.collection,
    compared.label_set,
    compared.reference,
    compared.query_id,
    sampled.passage_id is not null as is_sampled,
    compared.label,
    compared.judgment,
    count(*) as n
from compared
left join sampled using (collection, label_set, reference, query_id, passage_id)
group by all
