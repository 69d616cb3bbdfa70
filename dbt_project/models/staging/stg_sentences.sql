select
    collection,
    system,
    query_id,
    sentence,
    item_id,
    text as sentence_text
from {{ source('raw', 'sentences') }}
