{{ config(materialized='view') }}

with

labels as (
    select * from {{ ref('relevance_labels') }}
),

collections as (
    select * from {{ ref('stg_collections') }}
),

grid as (
    select * from {{ ref('evaluation_levels') }}
),

-- a board at a level that no label reaches says nothing
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(any_value(collections.min_relevant), max(labels.label)) as level
    from labels
    inner join collections using (collection)
    group by
        labels.collection,
        labels.label_set
)

select
    wanted.collection,
    wanted.label_set,
    cast(arg_min(grid.level, (abs(grid.level - wanted.level), grid.level)) as integer) as level
from wanted
cross join grid
group by
    wanted.collection,
    wanted.label_set
