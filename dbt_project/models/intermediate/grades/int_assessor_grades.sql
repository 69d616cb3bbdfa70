-- What people say of grades: before the grader's grade was shown to them, where they said it then,
-- and after.
select
    reviews.collection,
    reviews.grader_id,
    reviews.query_id,
    reviews.passage_id,
    reviews.item_id,
    reviews.assessor,
    said.reveal,
    reviews.grade,
    if(said.reveal = 'after', reviews.is_agreed, reviews.blind_grade = reviews.grade) as is_agreed,
    if(said.reveal = 'after', reviews.reviewed_grade, reviews.blind_grade) as assessor_grade,
    reviews.settles
from {{ ref('int_grade_reviews') }} as reviews
cross join (values ('after'), ('before')) as said (reveal)
where said.reveal = 'after' or reviews.blind_grade is not null
