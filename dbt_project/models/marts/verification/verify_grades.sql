{{ config(materialized='view') }}

with

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

extracted_answers as (
    select * from {{ ref('int_extracted_answers') }}
),

judgments as (
    select * from {{ ref('stg_judgments') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
)

select
    item_grades.collection,
    item_grades.grader,
    grader_items.rubric_version,
    item_grades.query_id,
    item_grades.item_id,
    grader_items.item_text,
    item_grades.passage_id,
    passages.passage_text as text,
    cast(item_grades.grade as integer) as grade,
    coalesce(nullif(item_grades.answer, ''), extracted_answers.answer) as answer,
    judgments.assessor,
    judgments.relevance as judgment
from item_grades
inner join grader_items
    on
        item_grades.collection = grader_items.collection
        and item_grades.grader_id = grader_items.grader_id
        and item_grades.query_id = grader_items.query_id
        and item_grades.item_id = grader_items.item_id
left join extracted_answers
    on
        item_grades.collection = extracted_answers.collection
        and item_grades.query_id = extracted_answers.query_id
        and item_grades.passage_id = extracted_answers.passage_id
        and item_grades.item_id = extracted_answers.item_id
left join judgments
    on
        item_grades.collection = judgments.collection
        and item_grades.query_id = judgments.query_id
        and item_grades.passage_id = judgments.passage_id
left join passages
    on
        item_grades.collection = passages.collection
        and item_grades.passage_id = passages.passage_id
order by
    item_grades.collection asc,
    item_grades.grader asc,
    grader_items.rubric_version asc,
    item_grades.query_id asc,
    item_grades.item_id asc,
    item_grades.grade desc,
    item_grades.passage_id asc,
    judgments.assessor asc
