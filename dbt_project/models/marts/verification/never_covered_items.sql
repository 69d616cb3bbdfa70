-- Either nothing in the pool answers these items, or they cannot be answered as they are worded.
with

gradable_passages as (
    select * from {{ ref('pool') }}
    where text_sha256 is not null
),

pool_sizes as (
    select
        collection,
        query_id,
        count(*) as n_passages
    from gradable_passages
    group by all
),

best_grades as (
    select
        item_grades.collection,
        item_grades.grader_id,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.gold_sha256,
        max(item_grades.grade) as best_grade,
        count(*) as n_graded,
        count(gradable_passages.passage_id) as n_graded_of_pool
    from {{ ref('int_item_grades') }} as item_grades
    left join gradable_passages using (collection, query_id, passage_id)
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    cast(levels.level as integer) as tau,
    grader_items.query_id,
    grader_items.item_id,
    grader_items.item_text,
    grader_items.weight,
    cast(best_grades.best_grade as integer) as best_grade,
    best_grades.n_graded
from best_grades
left join pool_sizes using (collection, query_id)
inner join {{ ref('grader_items') }} as grader_items
    using (collection, grader_id, query_id, item_id)
inner join {{ ref('evaluation_levels') }} as levels on best_grades.best_grade < levels.level
where
    best_grades.n_graded_of_pool = coalesce(pool_sizes.n_passages, 0)
    and best_grades.gold_sha256 is not distinct from grader_items.gold_sha256
order by
    best_grades.best_grade asc,
    best_grades.n_graded desc,
    grader_items.collection asc,
    grader_items.grader asc,
    grader_items.rubric_version asc,
    levels.level asc,
    grader_items.query_id asc,
    grader_items.item_id asc
