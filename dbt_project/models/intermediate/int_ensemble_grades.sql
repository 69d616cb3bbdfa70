{{ config(materialized='table') }}

-- What several graders together say, without asking any of them again. More than half of an
-- ensemble's members must have a grade, for a sum all of them, for the Criteria paper's sum any: a
-- missing one is 0 there. Ties go to the lower grade: the
-- lowest of the most frequent ones, the lower of the two in the middle, a mean halfway between two
-- grades to the one below.
with

votes as (
    select
        ensembles.ensemble_id,
        ensembles.rule,
        ensembles.mapping,
        ensembles.n_members,
        grades.collection,
        grades.query_id,
        grades.passage_id,
        grades.item_id,
        grades.gold_sha256,
        count(*) as n_votes,
        list_sort(list(grades.grade)) as grades,
        round(
            avg(
                coalesce(grades.expected_grade, grades.grade)
                order by ensembles.grader_id
            ),
            10
        ) as expected_grade,
        max(grades.graded_at) as graded_at
    from {{ ref('int_grades_in_force') }} as grades
    inner join {{ ref('int_ensembles') }} as ensembles using (grader_id)
    where grades.grade is not null
    group by all
),

counted as (
    select
        *,
        list_transform(
            list_distinct(grades),
            lambda grade: {
                'n': len(list_filter(grades, lambda other: other = grade)), 'grade': -grade
            }
        ) as frequencies
    from votes
    where
        case rule
            when 'sum' then n_votes = n_members
            when 'sum_missing_as_0' then true
            else 2 * n_votes > n_members
        end
),

graded as (
    select
        *,
        case rule
            when 'majority' then -list_max(frequencies)['grade']
            when 'median' then grades[(n_votes + 1) // 2]
            when 'mean_expected' then ceil(expected_grade - 0.5)
            else list_sum(grades)
        end as grade
    from counted
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
    -- on the members' scale: none where the grade is on another
    case when not starts_with(rule, 'sum') and mapping is null then expected_grade end
        as expected_grade,
    graded_at,
    n_members as n_items,
    n_members - n_votes as n_missing
from graded
