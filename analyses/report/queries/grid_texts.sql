-- The texts of a query's graded passages
select
    passage_id,
    text
from lake.raw.passages
where
    collection = $collection
    and passage_id in (select grid.passage_id from grid where grid.query_id = $query_id)
order by passage_id
