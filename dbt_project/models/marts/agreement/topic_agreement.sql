-- Does a label set order the systems as an assessor does, one query at a time?
with

rounded as (
    select
        collection,
        label_set,
        level,
        measure,
        reference,
        assessor,
        reference_level,
        query_id,
        system,
        round(value, 4) as score,
        round(human_value, 4) as human_score
    from {{ ref('int_compared_scores') }}
),

correlations as (
    {{ rank_correlations(
        'rounded',
        [
            'collection', 'label_set', 'level', 'measure', 'reference', 'assessor',
            'reference_level', 'query_id'
        ],
        'score', 'human_score'
    ) }}
)

select
    collection,
    label_set,
    cast(level as integer) as level,
    measure,
    reference,
    assessor,
    cast(reference_level as integer) as reference_level,
    query_id,
    spearman,
    kendall,
    tau_ap,
    rbo,
    n_systems,
    {{ why_undefined() }} as undefined_reason
from correlations
