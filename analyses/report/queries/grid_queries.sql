-- The queries that have a grid, with their text
select
    grid.grader,
    grid.query_id,
    any_value(queries.text) as query,
    count(distinct grid.passage_id) as n_passages,
    count(distinct grid.item_id) as n_items
from grid
inner join lake.raw.queries as queries using (query_id)
where queries.collection = $collection
group by all
order by grid.grader, grid.query_id
