select
    collection,
    system,
    query_id,
    sentence,
    cited_passage_id,
    citation,
    confidence
from {{ source('raw', 'citations') }}
