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
    * exclude (is_one_constant, is_other_constant),
    {{ why_undefined() }} as undefined_reason
from correlations
