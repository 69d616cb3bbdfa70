select
    collection,
    rubric_version,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    item_text as text,
    gold_answers,
    weight,
    origin,
    origin_item_id,
    action,
    previous_item_id
from {{ ref('int_rubric_items') }}
