-- The versions of the rubric, and how much was edited in each
with

items as (
    select
        rubric_version,
        count(distinct item_id) as n_items
    from lake.marts.rubric_items_effective
    where collection = $collection
    group by rubric_version
),

edits as (
    select
        rubric_version,
        count(*) as n_edits
    from lake.intermediate.int_numbered_edits
    where collection = $collection
    group by rubric_version
)

select
    versions.rubric_version,
    versions.is_newest,
    coalesce(items.n_items, 0) as n_items,
    coalesce(edits.n_edits, 0) as n_edits
from lake.marts.rubric_versions as versions
left join items using (rubric_version)
left join edits using (rubric_version)
where versions.collection = $collection
order by versions.rubric_version
