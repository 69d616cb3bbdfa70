select * from {{ ref('stg_rubric_items') }}
union all by name
select
    *,
    '' as facet_id,
    1 as weight,
    'imported' as origin
from {{ ref('int_graded_items') }}
