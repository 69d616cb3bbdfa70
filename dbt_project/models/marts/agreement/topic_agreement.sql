-- Does a label set order the systems as an assessor does, one query at a time?
with

rounded as (
    select
        * exclude (value, human_value),
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
    * exclude (is_one_constant, is_other_constant),
    {{ why_undefined() }} as undefined_reason
from correlations
