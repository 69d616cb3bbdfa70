-- Scores are rounded to 4 decimals first, as for leaderboard_correlation.
with

paired as (
    select * from {{ ref('int_compared_boards') }}
    where not is_official
),

correlations as (
    {{ rank_correlations(
        'paired',
        [
            'collection', 'label_set', 'level', 'measure', 'reference', 'assessor',
            'reference_level'
        ],
        'score', 'reference_score'
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
    spearman,
    kendall,
    tau_ap,
    rbo,
    n_systems,
    {{ why_undefined() }} as undefined_reason
from correlations
