select
    collection,
    query_id,
    text as query_text,
    sha256(text) as query_sha256
from {{ source('raw', 'queries') }}
