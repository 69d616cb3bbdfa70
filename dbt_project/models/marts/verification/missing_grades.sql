{{ config(materialized='view') }}

with

ungraded_pairs as (
    select * from {{ ref('int_ungraded_pairs') }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
)

select
    collection,
    ungraded_pairs.grader,
    rubric_version,
    query_id,
    passage_id,
    item_id,
    ungraded_pairs.status,
    grader_items.item_text,
    passages.passage_text as text
from ungraded_pairs
inner join grader_items using (collection, grader_id, rubric_version, query_id, item_id)
left join passages using (collection, passage_id)
order by
    collection asc,
    ungraded_pairs.grader asc,
    rubric_version asc,
    query_id asc,
    passage_id asc,
    item_id asc
