with

grader_items as (
    select * from {{ ref('grader_items') }}
),

item_grades as (
    select * from {{ ref('int_answered_grades') }}
),

-- the rows of the grid: passages with any grade on the version's items
graded_passages as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.rubric_version,
        grader_items.query_id,
        item_grades.passage_id,
        max(item_grades.grade) as label,
        round(avg(item_grades.grade), 10) as mean_grade
    from item_grades
    inner join grader_items using (collection, grader_id, query_id, item_id)
    where item_grades.gold_sha256 is not distinct from grader_items.gold_sha256
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    grader_items.query_id,
    graded_passages.passage_id,
    cast(graded_passages.label as integer) as label,
    graded_passages.mean_grade,
    grader_items.item_id,
    grader_items.item_text,
    grader_items.place,
    cast(item_grades.grade as integer) as grade,
    item_grades.answer,
    item_grades.answered_by
from graded_passages
inner join grader_items using (collection, grader_id, rubric_version, query_id)
left join item_grades
    on
        {{ is_of_item('item_grades', 'grader_items') }}
        and graded_passages.passage_id = item_grades.passage_id
order by
    grader_items.collection asc,
    grader_items.grader asc,
    grader_items.rubric_version asc,
    grader_items.query_id asc,
    graded_passages.label desc,
    graded_passages.mean_grade desc,
    graded_passages.passage_id asc,
    grader_items.place asc
