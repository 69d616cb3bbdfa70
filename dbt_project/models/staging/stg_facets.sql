select
    collection,
    query_id,
    facet_id,
    text as facet_text
from {{ source('raw', 'facets') }}
