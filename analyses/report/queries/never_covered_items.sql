-- Items that no graded passage answers
select
    items.query_id,
    coalesce(items.item_text, items.item_id) as item,
    items.best_grade,
    items.n_graded
from lake.marts.never_covered_items as items
inner join lake.marts.rubric_versions as versions
    on items.collection = versions.collection and items.rubric_version = versions.rubric_version
where
    items.collection = $collection
    and versions.is_newest
    and items.grader = $grader
    and items.tau = $tau
order by
    items.n_graded desc,
    items.query_id asc,
    items.item_id asc
limit $rows
