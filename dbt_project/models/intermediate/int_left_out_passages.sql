{{ config(materialized='view') }}

with

collections as (
    select * from {{ ref('stg_collections') }}
),

near_duplicates as (
    select * from {{ ref('stg_near_duplicates') }}
)

select
    near_duplicates.collection,
    near_duplicates.passage_id
from near_duplicates
inner join collections using (collection)
where collections.leave_out_near_duplicates
