{{ config(materialized='view') }}

with

rubric_items as (
    select * from {{ ref('stg_rubric_items') }}
)

-- version 0: the banks as ingested
select
    0 as rubric_version,
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
