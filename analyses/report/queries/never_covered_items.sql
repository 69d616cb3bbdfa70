-- Items that no graded passage answers
select
    query_id,
    coalesce(item_text, item_id) as item,
    best_grade,
    n_graded
from lake.marts.never_covered_items
where
    collection = $collection
    and rubric_version = $rubric_version
    and grader = $grader
    and tau = $tau
order by
    n_graded desc,
    query_id asc,
    item_id asc
limit $rows
