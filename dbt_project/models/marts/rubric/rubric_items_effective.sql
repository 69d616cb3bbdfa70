select * rename (item_text as text)
from {{ ref('int_rubric_items') }}
