-- Scores are rounded to 4 decimals first, as for leaderboard_correlation. An assessor's board is
-- the one at its usual level, any other the one at the same level.
with

leaderboard as (
    select * from {{ ref('leaderboard') }}
),

paired as (
    select
        label_pairs.collection,
        label_pairs.label_set,
        one.level,
        one.measure,
        label_pairs.reference,
        label_pairs.assessor,
        other.level as reference_level,
        one.system,
        one.score_4dp as score,
        other.score_4dp as reference_score
    from {{ ref('int_label_pairs') }} as label_pairs
    inner join leaderboard as one using (collection, label_set)
    inner join {{ ref('usual_levels') }} as usual_levels
        on
            label_pairs.collection = usual_levels.collection
            and label_pairs.reference = usual_levels.label_set
    inner join leaderboard as other
        on
            label_pairs.collection = other.collection
            and label_pairs.reference = other.label_set
            and one.system = other.system
            and one.measure = other.measure
            and other.level = case
                when label_pairs.assessor is null then one.level else usual_levels.level
            end
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
