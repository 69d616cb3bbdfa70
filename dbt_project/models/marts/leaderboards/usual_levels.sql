{{ config(materialized='table') }}

with

collections as (
    select * from {{ source('raw', 'collections') }}
),

-- a board at a level that no label reaches says nothing
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(any_value(collections.min_relevant), max(labels.label)) as level
    from {{ ref('relevance_labels') }} as labels
    inner join collections using (collection)
    group by all
    union all
    -- scores of answers know no level: they stand at any
    select
        answer_label_sets.collection,
        answer_label_sets.label_set,
        collections.min_relevant as level
    from {{ ref('int_answer_label_sets') }} as answer_label_sets
    inner join collections using (collection)
)

select
    wanted.collection,
    wanted.label_set,
    cast(arg_min(grid.level, (abs(grid.level - wanted.level), grid.level)) as integer) as level
from wanted
cross join {{ ref('evaluation_levels') }} as grid
group by all
