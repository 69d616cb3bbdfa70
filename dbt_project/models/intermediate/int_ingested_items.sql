{{ config(materialized='view') }}

with

rubric_items as (
    select * from {{ ref('stg_rubric_items') }}
),

graded_items as (
    select * from {{ ref('int_graded_items') }}
)

select
    collection,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    item_text,
    gold_answers,
    weight,
    origin
from rubric_items
union all
select
    collection,
    bank,
    query_id,
    '' as facet_id,
    item_id,
    kind,
    null as item_text,
    null as gold_answers,
    1 as weight,
    'imported' as origin
from graded_items
