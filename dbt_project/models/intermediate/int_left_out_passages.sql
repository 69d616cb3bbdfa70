{{ config(materialized='view') }}

select
    near_duplicates.collection,
    near_duplicates.passage_id
from {{ ref('stg_near_duplicates') }} as near_duplicates
inner join {{ ref('stg_collections') }} as collections using (collection)
where collections.leave_out_near_duplicates
