select
    collection,
    assessor,
    query_id,
    item_id,
    cited_passage_id,
    support
from {{ source('raw', 'support_judgments') }}
