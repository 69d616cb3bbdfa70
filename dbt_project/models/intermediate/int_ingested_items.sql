select
    collection,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    item_text,
    gold_answers,
    weight,
    origin
from {{ ref('stg_rubric_items') }}
union all
select
    collection,
    bank,
    query_id,
    '' as facet_id,
    item_id,
    kind,
    null as item_text,
    null as gold_answers,
    1 as weight,
    'imported' as origin
from {{ ref('int_graded_items') }}
