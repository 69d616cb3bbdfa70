select * rename (text as facet_text)
from {{ source('raw', 'facets') }}
