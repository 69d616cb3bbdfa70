with

stated as (
    select * from {{ source('raw', 'system_groups') }}
)

select * from stated
union all by name
select
    stated.collection,
    stated.grouping || ' family' as grouping,
    families.family as group_name,
    stated.system
from stated
inner join {{ ref('int_model_families') }} as families on stated.group_name = families.model
where stated.grouping in ('generator', 'judge')
