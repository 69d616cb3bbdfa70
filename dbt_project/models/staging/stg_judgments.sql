select
    collection,
    assessor,
    query_id,
    passage_id,
    relevance
from {{ source('raw', 'judgments') }}
