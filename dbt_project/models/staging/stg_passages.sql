select
    collection,
    passage_id,
    text as passage_text,
    text_sha256,
    doc_id,
    position,
    origin
from {{ source('raw', 'passages') }}
