select
    collection,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    text as item_text,
    gold_answers,
    weight,
    origin
from {{ source('raw', 'rubric_items') }}
