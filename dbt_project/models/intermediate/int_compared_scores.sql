-- Each value of a label set beside the one that an assessor's judgments give, at their usual level.
with

topic_scores as (
    select * from {{ ref('topic_scores') }}
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
from {{ ref('int_label_pairs') }} as label_pairs
inner join topic_scores as one using (collection, label_set)
inner join {{ ref('usual_levels') }} as usual_levels
    on
        label_pairs.collection = usual_levels.collection
        and label_pairs.reference = usual_levels.label_set
inner join topic_scores as other
    on
        label_pairs.collection = other.collection
        and label_pairs.reference = other.label_set
        and one.system = other.system
        and one.query_id = other.query_id
        and one.measure = other.measure
        and usual_levels.level = other.level
where label_pairs.assessor is not null
