{{ config(materialized='view') }}

-- How much of each version of a rubric is graded. Counts per item suffice: a grade serves every
-- version that has the item.
with

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

pool as (
    select * from {{ ref('int_pool') }}
    where text_sha256 is not null
),

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

pooled_queries as (
    select
        collection,
        query_id,
        count(*) as n_passages
    from pool
    group by all
),

graded as (
    select
        item_grades.collection,
        item_grades.grader_id,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.gold_sha256,
        count(*) as n_graded
    from item_grades
    semi join pool using (collection, query_id, passage_id)
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    grader_items.kind,
    grader_items.query_id,
    grader_items.item_id,
    coalesce(pooled_queries.n_passages, 0) as n_wanted,
    coalesce(graded.n_graded, 0) as n_graded,
    coalesce(pooled_queries.n_passages, 0) - coalesce(graded.n_graded, 0) as n_missing
from grader_items
left join pooled_queries using (collection, query_id)
left join graded on {{ is_of_item('graded', 'grader_items') }}
