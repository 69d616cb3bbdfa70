{{ config(materialized='view') }}

with

grade_reviews as (
    select * from {{ ref('int_grade_reviews') }}
),

graders as (
    select * from {{ ref('int_own_graders') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

counts as (
    select
        grade_reviews.collection,
        graders.grader,
        grade_reviews.assessor,
        levels.level as tau,
        count(*) as n_reviewed,
        count(*) filter (where grade_reviews.is_agreed) as n_agreed,
        count(grade_reviews.reviewed_grade) as n_graded,
        count(*) filter (
            where
            grade_reviews.grade >= levels.level
            and grade_reviews.reviewed_grade >= levels.level
        ) as n_both,
        count(*) filter (
            where
            grade_reviews.grade >= levels.level
            and grade_reviews.reviewed_grade < levels.level
        ) as n_grader_only,
        count(*) filter (
            where
            grade_reviews.grade < levels.level
            and grade_reviews.reviewed_grade >= levels.level
        ) as n_assessor_only,
        count(*) filter (
            where
            grade_reviews.grade < levels.level
            and grade_reviews.reviewed_grade < levels.level
        ) as n_neither
    from grade_reviews
    inner join graders using (grader_id)
    cross join levels
    group by all
)

select
    collection,
    grader,
    assessor,
    cast(tau as integer) as tau,
    n_reviewed,
    n_agreed,
    round(n_agreed / n_reviewed, 10) as share_agreed,
    n_graded,
    n_both,
    n_grader_only,
    n_assessor_only,
    n_neither,
    round((n_both + n_neither) / nullif(n_graded, 0), 10) as observed,
    round(
        {{ kappa_of_two_classes('n_both', 'n_grader_only', 'n_assessor_only', 'n_neither') }}, 10
    ) as kappa,
    round(n_both / nullif(n_both + n_grader_only, 0), 10) as precision,
    round(n_both / nullif(n_both + n_assessor_only, 0), 10) as recall
from counts
order by
    collection asc,
    grader asc,
    assessor asc,
    tau asc
