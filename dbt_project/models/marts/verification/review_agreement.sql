with

counts as (
    select
        assessor_grades.collection,
        graders.grader,
        assessor_grades.assessor,
        assessor_grades.reveal,
        levels.level as tau,
        count(*) as n_reviewed,
        count(*) filter (where assessor_grades.is_agreed) as n_agreed,
        round(n_agreed / n_reviewed, 10) as share_agreed,
        count(assessor_grades.assessor_grade) as n_graded,
        {{ counts_of_two_classes(
            'levels.level', 'assessor_grades.grade', 'assessor_grades.assessor_grade',
            'n_grader_only', 'n_assessor_only'
        ) }}
    from {{ ref('int_assessor_grades') }} as assessor_grades
    inner join {{ ref('int_own_graders') }} as graders using (grader_id)
    cross join {{ ref('evaluation_levels') }} as levels
    group by all
)

select
    *,
    round((n_both + n_neither) / nullif(n_graded, 0), 10) as observed,
    round(
        {{ kappa_of_two_classes('n_both', 'n_grader_only', 'n_assessor_only', 'n_neither') }}, 10
    ) as kappa,
    round(n_both / nullif(n_both + n_grader_only, 0), 10) as precision,
    round(n_both / nullif(n_both + n_assessor_only, 0), 10) as recall
from counts
order by all
