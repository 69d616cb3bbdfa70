-- The items of a query, in the order of the grid's columns
select
    item_id,
    any_value(item_text) as item_text
from grid
where grader = $grader and query_id = $query_id
group by item_id
order by item_id
