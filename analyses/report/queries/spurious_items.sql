-- Items that non-relevant passages answer, most often first
select
    query_id,
    coalesce(item_text, item_id) as item,
    n_hits,
    n_non_relevant,
    n_relevant_hits,
    n_relevant
from lake.marts.spurious_items
where
    collection = $collection
    and rubric_version = $rubric_version
    and grader = $grader
    and tau = $tau
    and assessor = $assessor
order by
    n_hits desc,
    query_id asc,
    item_id asc
limit $rows
