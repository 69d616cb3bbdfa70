-- The versions of the rubric, and how much was edited in each
select
    versions.rubric_version,
    versions.is_newest,
    (
        select count(distinct items.item_id)
        from lake.marts.rubric_items_effective as items
        where
            items.collection = versions.collection
            and items.rubric_version = versions.rubric_version
    ) as n_items,
    (
        select count(*)
        from lake.staging.stg_rubric_edits as edits
        where
            edits.collection = versions.collection
            and edits.rubric_version = versions.rubric_version
    ) as n_edits
from lake.marts.rubric_versions as versions
where versions.collection = $collection
order by versions.rubric_version
