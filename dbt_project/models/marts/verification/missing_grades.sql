{{ config(materialized='view') }}

with

pool as (
    select * from {{ ref('int_pool') }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

grades as (
    select * from {{ ref('int_grades') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    grader_items.query_id,
    pool.passage_id,
    grader_items.item_id,
    case
        when grades.status is not null then grades.status
        when pool.text_sha256 is null then 'no text'
        else 'missing'
    end as status,
    grader_items.item_text,
    passages.passage_text as text
from grader_items
inner join pool
    on
        grader_items.collection = pool.collection
        and grader_items.query_id = pool.query_id
left join grades
    on
        grader_items.collection = grades.collection
        and grader_items.grader_id = grades.grader_id
        and grader_items.query_id = grades.query_id
        and grader_items.item_id = grades.item_id
        and pool.passage_id = grades.passage_id
left join passages
    on
        pool.collection = passages.collection
        and pool.passage_id = passages.passage_id
where grades.grade is null
order by
    grader_items.collection asc,
    grader_items.grader asc,
    grader_items.rubric_version asc,
    grader_items.query_id asc,
    pool.passage_id asc,
    grader_items.item_id asc
