select
    collection,
    queue,
    position,
    query_id,
    passage_id,
    item_id,
    passage_sha256,
    query_sha256,
    grader_id,
    assessor
from {{ source('raw', 'review_cards') }}
