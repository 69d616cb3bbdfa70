select
    collection,
    system,
    query_id,
    passage_id,
    sentence,
    cited_passage_id,
    confidence
from {{ source('raw', 'citations') }}
