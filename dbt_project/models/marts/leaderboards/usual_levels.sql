{{ config(materialized='view') }}

with

-- a board at a level that no label reaches says nothing
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(any_value(collections.min_relevant), max(labels.label)) as level
    from {{ ref('relevance_labels') }} as labels
    inner join {{ ref('stg_collections') }} as collections using (collection)
    group by
        labels.collection,
        labels.label_set
)

select
    wanted.collection,
    wanted.label_set,
    cast(arg_min(grid.level, (abs(grid.level - wanted.level), grid.level)) as integer) as level
from wanted
cross join {{ ref('evaluation_levels') }} as grid
group by
    wanted.collection,
    wanted.label_set
