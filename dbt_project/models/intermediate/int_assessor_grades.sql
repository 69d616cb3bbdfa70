-- What people say of grades: before the grader's grade was shown to them, where they said it then,
-- and after.
with

grade_reviews as (
    select * exclude (seconds, note, reviewed_at)
    from {{ ref('int_grade_reviews') }}
)

select
    * exclude (reviewed_grade, blind_grade),
    'after' as reveal,
    reviewed_grade as assessor_grade
from grade_reviews
union all by name
select
    * exclude (is_agreed, reviewed_grade, blind_grade),
    'before' as reveal,
    blind_grade = grade as is_agreed,
    blind_grade as assessor_grade
from grade_reviews
where blind_grade is not null
