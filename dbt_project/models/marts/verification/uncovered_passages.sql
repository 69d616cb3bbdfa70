-- Either the rubric misses what makes these passages relevant, or the grader does.
with

grader_items as (
    select * from {{ ref('grader_items') }}
),

relevant_judgments as (
    select judgments.*
    from {{ source('raw', 'judgments') }} as judgments
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    where judgments.relevance >= collections.min_relevant
),

rubric_sizes as (
    select
        collection,
        grader_id,
        rubric_version,
        query_id,
        count(*) as n_items
    from grader_items
    group by all
),

-- what each grader found in them; of equally good items that with the greatest id
graded_passages as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.grader,
        grader_items.rubric_version,
        relevant_judgments.assessor,
        grader_items.query_id,
        relevant_judgments.passage_id,
        relevant_judgments.relevance as judgment,
        count(*) as n_graded,
        max(item_grades.grade) as best_grade,
        arg_max(
            struct_pack(id := grader_items.item_id, text := grader_items.item_text),
            (item_grades.grade, grader_items.item_id)
        ) as best_item
    from relevant_judgments
    inner join {{ ref('int_item_grades') }} as item_grades using (collection, query_id, passage_id)
    inner join grader_items using (collection, grader_id, query_id, item_id)
    where item_grades.gold_sha256 is not distinct from grader_items.gold_sha256
    group by all
),

failures as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.rubric_version,
        grader_items.query_id,
        grades.passage_id,
        count(*) as n_failed
    from grader_items
    inner join {{ ref('int_grades') }} as grades using (collection, grader_id, query_id, item_id)
    where
        grades.status = 'failed'
        and grades.gold_sha256 is not distinct from grader_items.gold_sha256
    group by all
)

select
    graded_passages.collection,
    graded_passages.grader,
    graded_passages.rubric_version,
    cast(levels.level as integer) as tau,
    graded_passages.assessor,
    graded_passages.query_id,
    graded_passages.passage_id,
    graded_passages.judgment,
    cast(graded_passages.best_grade as integer) as best_grade,
    coalesce(failures.n_failed, 0) as n_failed,
    graded_passages.best_item.id as best_item_id,
    graded_passages.best_item.text as best_item_text,
    passages.passage_text as text
from graded_passages
inner join rubric_sizes using (collection, grader_id, rubric_version, query_id)
inner join {{ ref('evaluation_levels') }} as levels on graded_passages.best_grade < levels.level
left join failures using (collection, grader_id, rubric_version, query_id, passage_id)
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
where graded_passages.n_graded + coalesce(failures.n_failed, 0) = rubric_sizes.n_items
order by
    graded_passages.judgment desc,
    graded_passages.best_grade asc,
    graded_passages.collection asc,
    graded_passages.grader asc,
    graded_passages.rubric_version asc,
    levels.level asc,
    graded_passages.assessor asc,
    graded_passages.query_id asc,
    graded_passages.passage_id asc
