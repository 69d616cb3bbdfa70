-- Which retrieved passages have no label yet, most useful first?
-- :collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :query_id
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
    $asked_of_missing_labels
order by
    n_systems desc,
    best_rank asc,
    collection asc,
    label_set asc,
    query_id asc,
    passage_id asc
