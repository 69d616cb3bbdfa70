select
    collection,
    query_id,
    text as query_text,
    description,
    narrative
from {{ source('raw', 'queries') }}
