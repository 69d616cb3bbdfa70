{{ config(materialized='view') }}

with

labels as (
    select * from {{ ref('relevance_labels') }}
),

collections as (
    select * from {{ source('raw', 'collections') }}
),

answer_label_sets as (
    select * from {{ ref('int_answer_label_sets') }}
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
    union all
    -- scores of answers know no level: they stand at any
    select
        answer_label_sets.collection,
        answer_label_sets.label_set,
        collections.min_relevant as level
    from answer_label_sets
    inner join collections using (collection)
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
