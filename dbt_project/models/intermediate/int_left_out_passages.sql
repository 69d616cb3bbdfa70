{{ config(materialized='view') }}

with

collections as (
    select * from {{ source('raw', 'collections') }}
),

near_duplicates as (
    select * from {{ source('raw', 'near_duplicates') }}
)

select
    near_duplicates.collection,
    near_duplicates.passage_id
from near_duplicates
inner join collections using (collection)
where collections.leave_out_near_duplicates
