-- What is in the rubric, and how many grades does each item still miss?
-- :collection :query_id
-- :rubric_version = newest     a version of the rubric; 0 is the banks as ingested
-- :grader
select
    items.collection,
    items.rubric_version,
    items.query_id,
    items.bank,
    items.kind,
    items.weight,
    items.action,
    items.text,
    items.item_id,
    progress.grader,
    progress.n_wanted,
    progress.n_missing
from marts.rubric_items_effective as items
inner join marts.rubric_versions as versions using (collection, rubric_version)
left join marts.rubric_progress as progress
    using (collection, rubric_version, query_id, item_id, kind)
where
    ($collection is null or items.collection = $collection)
    and ($query_id is null or items.query_id = $query_id)
    and ($rubric_version is null or list_contains(versions.names, $rubric_version))
    and ($grader is null or progress.grader = $grader)
order by
    items.collection asc,
    items.rubric_version desc,
    items.query_id asc,
    items.bank asc,
    items.place asc nulls last,
    items.item_id asc,
    progress.grader asc
