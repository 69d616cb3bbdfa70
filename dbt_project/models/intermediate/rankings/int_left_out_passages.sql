select
    near_duplicates.collection,
    near_duplicates.passage_id
from {{ source('raw', 'near_duplicates') }} as near_duplicates
inner join {{ source('raw', 'collections') }} as collections using (collection)
where collections.leave_out_near_duplicates
