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
        any_value(ensembles.scale_min) as scale_min,
        any_value(ensembles.scale_max) as scale_max,
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
)

select
    * exclude (scale_min, scale_max),
    cast(
        round(50 * coalesce((expected_grade - scale_min) / nullif(scale_max - scale_min, 0), 0))
        as integer
    ) as step
from votes
where
    case rule
        when 'sum' then n_votes = n_members
        when 'sum_missing_as_0' then true
        else 2 * n_votes > n_members
    end
