select
    collection,
    grouping,
    group_name,
    system
from {{ source('raw', 'system_groups') }}
