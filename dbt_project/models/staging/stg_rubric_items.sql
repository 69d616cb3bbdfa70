select * exclude (created_at) rename (text as item_text)
from {{ source('raw', 'rubric_items') }}
