select * rename (text as sentence_text)
from {{ source('raw', 'sentences') }}
where text != ''
