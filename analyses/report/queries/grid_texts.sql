-- The texts of a query's graded passages
select distinct
    passages.passage_id,
    passages.text
from lake.raw.passages as passages
inner join grid using (passage_id)
where passages.collection = $collection and grid.query_id = $query_id
order by passages.passage_id
