select
    collection,
    passage_id,
    canonical_passage_id
from {{ source('raw', 'near_duplicates') }}
