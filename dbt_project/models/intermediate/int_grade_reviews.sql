{{ config(materialized='view') }}

-- A review counts as long as what was shown is so: the texts, and the grade.
with

grade_reviews as (
    select * from {{ ref('stg_grade_reviews') }}
),

grades_in_force as (
    select * from {{ ref('int_grades_in_force') }}
)

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
    grade_reviews.note,
    grade_reviews.reviewed_at
from grade_reviews
inner join grades_in_force
    using (grader_id, collection, query_id, passage_id, item_id, grade)
where
    grade_reviews.passage_sha256 is not distinct from grades_in_force.passage_sha256
    and grade_reviews.query_sha256 is not distinct from grades_in_force.query_sha256
