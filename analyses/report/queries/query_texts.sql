-- The queries of a collection, in the order of their ids
select
    query_id,
    text
from lake.raw.queries
where collection = $collection
order by query_id
