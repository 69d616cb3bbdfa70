select
    collection,
    query_id,
    text as query_text
from {{ source('raw', 'queries') }}
