select
    collection,
    rubric_version,
    bank,
    query_id,
    facet_id,
    item_id,
    split_part(kind, ':', 1) as kind,
    nullif(split_part(kind, ':', 2), '') as tier,
    nullif(split_part(kind, ':', 3), '') as criterion_type,
    item_text as text,
    gold_answers,
    weight,
    place,
    origin,
    origin_item_id,
    action,
    previous_item_id
from {{ ref('int_rubric_items') }}
