{{ config(materialized='view') }}

-- Each value of a label set beside the one that an assessor's judgments give, at the level from
-- which passages count as relevant.
with

topic_scores as (
    select * from {{ ref('topic_scores') }}
),

label_pairs as (
    select * from {{ ref('int_label_pairs') }}
),

collections as (
    select * from {{ ref('stg_collections') }}
)

select
    label_pairs.collection,
    label_pairs.label_set,
    label_pairs.reference,
    label_pairs.assessor,
    one.level,
    other.level as reference_level,
    one.measure,
    one.query_id,
    one.system,
    one.value,
    other.value as human_value
from label_pairs
inner join collections using (collection)
inner join topic_scores as one using (collection, label_set)
inner join topic_scores as other
    on
        label_pairs.collection = other.collection
        and label_pairs.reference = other.label_set
        and one.system = other.system
        and one.query_id = other.query_id
        and one.measure = other.measure
        and collections.min_relevant = other.level
where label_pairs.assessor is not null
