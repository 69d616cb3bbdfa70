{{ config(materialized='table') }}

with

collections as (
    select * from {{ source('raw', 'collections') }}
),

-- An answer counts from grade 4 on (RUBRIC's tau): a rubric's board begins at the label of a
-- passage that has one such answer.
answered as (
    select
        label_sets.collection,
        label_sets.label_set,
        policies.mapping,
        case policies.rule when 'count_at_least' then 1 else 4 end as unmapped
    from {{ ref('label_sets') }} as label_sets
    inner join {{ ref('int_label_policies') }} as policies using (policy)
    where label_sets.kind = 'rubric'
),

rubric_levels as (
    select
        collection,
        label_set,
        case
            when mapping is null then unmapped
            else list_min([
                mapping[label] for label in map_keys(mapping)
                if label >= unmapped and mapping[label] > 0
            ])
        end as level
    from answered
),

-- a board at a level that no label reaches says nothing
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(
            any_value(coalesce(rubric_levels.level, collections.min_relevant)), max(labels.label)
        ) as level
    from {{ ref('relevance_labels') }} as labels
    inner join collections using (collection)
    left join rubric_levels using (collection, label_set)
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
