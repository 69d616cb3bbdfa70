select
    collection,
    passage_id,
    text as passage_text,
    text_sha256
from {{ source('raw', 'passages') }}
