-- The labels that the shown label sets give to passages, from one query to another
select
    query_id,
    label_set,
    map_from_entries(list((passage_id, label))) as labels
from lake.marts.relevance_labels
where
    collection = $collection
    and query_id between $first_query and $last_query
    and label_set in (select unnest(cast($label_sets as varchar[])))
group by all
order by
    query_id,
    label_set
