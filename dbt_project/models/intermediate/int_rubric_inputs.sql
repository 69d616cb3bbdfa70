-- Hashes tell whether anything that coverage is computed from has changed since the last build.
with

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

ranking_inputs as (
    select * from {{ ref('int_ranking_inputs') }}
),

rubrics as (
    select
        collection,
        grader_id,
        grader,
        rubric_version,
        {{ hash_of_rows('query_id, item_id, weight') }} as items_hash
    from grader_items
    group by all
),

grades as (
    select
        collection,
        grader_id,
        {{ hash_of_rows('query_id, passage_id, item_id, grade') }} as grades_hash
    from item_grades
    group by all
)

select
    rubrics.collection,
    rubrics.grader_id,
    rubrics.grader,
    rubrics.rubric_version,
    rubrics.collection || '/' || rubrics.grader || '/v' || rubrics.rubric_version as part,
    hash(
        rubrics.grader_id, rubrics.items_hash, grades.grades_hash, ranking_inputs.rankings_hash
    ) as inputs
from rubrics
inner join grades using (collection, grader_id)
inner join ranking_inputs using (collection)
