select * exclude (created_at) rename (text as item_text)
from {{ source('raw', 'rubric_items') }}
union all by name
select
    *,
    '' as facet_id,
    1 as weight,
    'imported' as origin
from {{ ref('int_graded_items') }}
