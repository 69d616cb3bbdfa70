{{ config(materialized='table') }}

-- What several graders together say, without asking any of them again. In the Criteria paper's sum
-- a missing grade is 0. Ties go to the lower grade: the lowest of the most frequent ones, the lower
-- of the two in the middle, a mean halfway between two grades to the one below.
with

counted as (
    select
        *,
        list_transform(
            list_distinct(grades),
            lambda grade: {
                'n': len(list_filter(grades, lambda other: other = grade)), 'grade': -grade
            }
        ) as frequencies
    from {{ ref('int_ensemble_votes') }}
),

graded as (
    select
        counted.* replace (
            -- on the members' scale, or on people's: none where the grade is on another
            case
                when rule = 'calibrated' then calibrated.expected_grade
                when not starts_with(rule, 'sum') then counted.expected_grade
            end as expected_grade
        ),
        calibrated.probabilities,
        case rule
            when 'majority' then -list_max(frequencies)['grade']
            when 'median' then grades[(n_votes + 1) // 2]
            when 'mean_expected' then ceil(counted.expected_grade - 0.5)
            when 'calibrated' then calibrated.grade
            else list_sum(grades)
        end as grade
    from counted
    left join {{ ref('int_calibrated_grades') }} as calibrated
        using (ensemble_id, collection, query_id, step)
    where counted.rule != 'calibrated' or calibrated.grade is not null
)

select
    ensemble_id as grader_id,
    collection,
    query_id,
    passage_id,
    item_id,
    gold_sha256,
    cast({{ renamed('grade', 'mapping') }} as integer) as grade,
    'ok' as status,
    case when mapping is null then expected_grade end as expected_grade,
    case when mapping is null then probabilities end as probabilities,
    graded_at,
    n_members as n_items,
    n_members - n_votes as n_missing
from graded
