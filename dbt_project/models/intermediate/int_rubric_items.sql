select
    rubric_version,
    collection,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    item_text,
    gold_answers,
    weight,
    origin,
    origin_item_id,
    action,
    previous_item_id
from {{ ref('int_rubric_states') }}
where is_in_force
