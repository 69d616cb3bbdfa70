-- Hashes tell whether anything that scores are computed from has changed since the last build.
with

labels as (
    select * from {{ ref('int_labels') }}
),

label_sets as (
    select * from {{ ref('int_label_sets') }}
),

ranking_inputs as (
    select * from {{ ref('int_ranking_inputs') }}
),

rubric_inputs as (
    select * from {{ ref('int_rubric_inputs') }}
),

hashed_labels as (
    select
        collection,
        label_set,
        {{ hash_of_rows('query_id, passage_id, label') }} as labels_hash
    from labels
    group by all
)

select
    label_sets.collection,
    label_sets.label_set,
    label_sets.collection || '/' || label_sets.label_set as part,
    hashed_labels.labels_hash,
    hash(
        hashed_labels.labels_hash, ranking_inputs.rankings_hash, coalesce(rubric_inputs.inputs, 0)
    ) as inputs
from label_sets
inner join hashed_labels using (collection, label_set)
inner join ranking_inputs using (collection)
left join rubric_inputs using (collection, grader, rubric_version)
