-- A review counts as long as what was shown is so: the texts, and the grade.
select
    grade_reviews.collection,
    grade_reviews.grader_id,
    grade_reviews.query_id,
    grade_reviews.passage_id,
    grade_reviews.item_id,
    grade_reviews.assessor,
    grade_reviews.grade,
    grade_reviews.verdict = 'agree' as is_agreed,
    case grade_reviews.verdict
        when 'agree' then grade_reviews.grade
        else grade_reviews.own_grade
    end as reviewed_grade,
    grade_reviews.blind_grade,
    grade_reviews.seconds,
    grade_reviews.note,
    coalesce(grade_reviews.settles, false) as settles,
    grade_reviews.reviewed_at
from {{ source('raw', 'grade_reviews') }} as grade_reviews
-- a grade may stand with old and with new gold answers
semi join {{ ref('int_grades_in_force') }} as grades_in_force
    on
        grade_reviews.grader_id = grades_in_force.grader_id
        and grade_reviews.collection = grades_in_force.collection
        and grade_reviews.query_id = grades_in_force.query_id
        and grade_reviews.passage_id = grades_in_force.passage_id
        and grade_reviews.item_id = grades_in_force.item_id
        and grade_reviews.grade = grades_in_force.grade
        and grade_reviews.passage_sha256 is not distinct from grades_in_force.passage_sha256
        and grade_reviews.query_sha256 is not distinct from grades_in_force.query_sha256
