with

hashed_rubrics as (
    select
        collection,
        grader,
        rubric_version,
        {{ hash_of_rows('variant') }} as rubric_hash
    from {{ ref('int_rubric_variants') }}
    group by all
),

-- a system without any ranking scores 0 all the same
hashed_systems as (
    select
        collection,
        system,
        {{ hash_of_rows('ranking_inputs.ranking_hash') }} as rankings_hash
    from {{ source('raw', 'systems') }}
    left join {{ ref('int_ranking_inputs') }} as ranking_inputs using (collection, system)
    group by all
),

hashed_weights as (
    select
        collection,
        {{ hash_of_rows('query_id, weight, cluster') }} as weights_hash
    from {{ ref('int_query_weights') }}
    group by all
)

select
    hash(
        label_sets.collection,
        label_sets.label_set,
        hashed_systems.system,
        label_hashes.labels_hash,
        hashed_rubrics.rubric_hash,
        hashed_systems.rankings_hash,
        hashed_weights.weights_hash
    ) as part,
    label_sets.collection,
    label_sets.label_set,
    hashed_systems.system
from {{ ref('label_sets') }} as label_sets
inner join {{ ref('int_label_set_hashes') }} as label_hashes using (collection, label_set)
inner join hashed_systems using (collection)
left join hashed_rubrics using (collection, grader, rubric_version)
left join hashed_weights using (collection)
