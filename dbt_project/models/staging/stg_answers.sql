select
    collection,
    system,
    query_id,
    passage_id
from {{ source('raw', 'answers') }}
