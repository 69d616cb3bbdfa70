-- Where in each ranking an item is answered with a grade of tau or more. What a top k covers, and
-- how often, follows from it under every version of the rubric that has the item.
with

item_grades as (
    select * from {{ ref('int_item_grades') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

top_entries as (
    select * from ranked_entries
    where
        rank <= (
            select max(grid.cutoff) from grid
            where grid.kind = 'rubric'
        )
)

select
    item_grades.collection,
    item_grades.grader_id,
    top_entries.system,
    item_grades.query_id,
    item_grades.item_id,
    levels.level as tau,
    list(top_entries.rank order by top_entries.rank) as ranks
from item_grades
inner join top_entries using (collection, query_id, passage_id)
inner join levels on item_grades.grade >= levels.level
group by all
