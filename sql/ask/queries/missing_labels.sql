-- Which retrieved passages have no label yet, most useful first?
-- :collection = any            a collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :query_id = any              a query
select
    collection,
    label_set,
    query_id,
    passage_id,
    n_systems,
    best_rank,
    left(text, 80) as text
from marts.missing_labels
where
    ($collection is null or collection = $collection)
    and ($label_set is null or label_set = $label_set)
    and ($query_id is null or query_id = $query_id)
order by
    n_systems desc,
    best_rank asc,
    collection asc,
    label_set asc,
    query_id asc,
    passage_id asc
