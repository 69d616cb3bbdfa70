select
    collection,
    sentinel,
    query_id,
    passage_id,
    item_id,
    kind,
    judgment,
    query,
    passage,
    item
from {{ source('raw', 'sentinel_pairs') }}
