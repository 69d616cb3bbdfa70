with

-- what one person alone graded says nothing of agreement
reviewed as (
    select
        assessor_grades.collection,
        graders.grader,
        assessor_grades.query_id,
        assessor_grades.passage_id,
        assessor_grades.item_id,
        assessor_grades.reveal,
        levels.level as tau,
        count(*) as n,
        list(assessor_grades.assessor) as assessors,
        sum(assessor_grades.assessor_grade) as total,
        sum(assessor_grades.assessor_grade * assessor_grades.assessor_grade) as total_squares,
        count(*) filter (where assessor_grades.assessor_grade >= levels.level) as n_answered
    from {{ ref('int_assessor_grades') }} as assessor_grades
    inner join {{ ref('int_own_graders') }} as graders using (grader_id)
    cross join {{ ref('evaluation_levels') }} as levels
    where
        assessor_grades.assessor_grade is not null
        -- who settles a conflict has seen what the others said
        and not assessor_grades.settles
    group by all
    having count(*) >= 2
)

select
    collection,
    grader,
    reveal,
    cast(tau as integer) as tau,
    len(list_distinct(flatten(list(assessors)))) as n_assessors,
    count(*) as n_graded,
    round({{ krippendorff_alpha('n', 'n_answered', 'n_answered') }}, 10) as alpha,
    round({{ krippendorff_alpha('n', 'total', 'total_squares') }}, 10) as graded_alpha
from reviewed
group by all
order by all
