-- Which label sets are compared: all with every assessor, and those of the newest rubric with each
-- other. Not hybrids, nor ensembles with their members: they would agree with what they are made
-- of. Judges are compared with panels of assessors, too. A label set and its reference make a part
-- of what is kept.
with

label_sets as (
    select * from {{ ref('label_sets') }}
),

sampled_hashes as (
    select
        collection,
        label_set,
        {{ hash_of_rows('query_id, passage_id') }} as sampled_hash
    from {{ ref('sampled_pairs') }}
    group by all
),

newest as (
    select
        collection,
        max(rubric_version) as rubric_version
    from label_sets
    group by all
),

candidates as (
    select
        label_sets.collection,
        label_sets.label_set,
        label_sets.kind,
        label_sets.max_label,
        raters.sources,
        label_sets.rubric_version is null
        or label_sets.rubric_version = newest.rubric_version as is_newest,
        hash(
            label_sets.collection,
            label_sets.label_set,
            label_sets.max_label,
            label_hashes.labels_hash,
            sampled_hashes.sampled_hash
        ) as inputs
    from label_sets
    inner join newest using (collection)
    inner join {{ ref('int_raters') }} as raters using (collection, label_set)
    inner join {{ ref('int_label_set_hashes') }} as label_hashes using (collection, label_set)
    left join sampled_hashes using (collection, label_set)
    where label_sets.kind != 'hybrid'
)

select
    one.collection,
    one.label_set,
    other.label_set as reference,
    nullif(regexp_extract(other.label_set, '^assessor:(.*)$', 1), '') as assessor,
    one.max_label,
    other.max_label as max_reference,
    coalesce(one.max_label = other.max_label, false) as is_common_scale,
    hash(one.inputs, other.inputs) as part
from candidates as one
inner join candidates as other
    on
        one.collection = other.collection
        and one.label_set != other.label_set
        and (
            one.sources = other.sources
            or not list_has_any(one.sources, other.sources)
        )
where
    case
        when one.kind = 'panel' then false
        when other.kind = 'panel' then one.kind != 'assessor'
        else other.kind = 'assessor' or (one.is_newest and other.is_newest)
    end
