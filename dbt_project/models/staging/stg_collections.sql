select
    collection,
    source,
    min_relevant,
    max_relevance,
    default_pool_depth,
    leave_out_near_duplicates,
    ingested_at
from {{ source('raw', 'collections') }}
