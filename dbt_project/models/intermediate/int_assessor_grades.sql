-- What people say of grades: before the grader's grade was shown to them, where they said it then,
-- and after.
with

grade_reviews as (
    select * from {{ ref('int_grade_reviews') }}
)

select
    collection,
    grader_id,
    query_id,
    passage_id,
    item_id,
    assessor,
    'after' as reveal,
    grade,
    is_agreed,
    reviewed_grade as assessor_grade,
    settles
from grade_reviews
union all
select
    collection,
    grader_id,
    query_id,
    passage_id,
    item_id,
    assessor,
    'before' as reveal,
    grade,
    blind_grade = grade as is_agreed,
    blind_grade as assessor_grade,
    settles
from grade_reviews
where blind_grade is not null
