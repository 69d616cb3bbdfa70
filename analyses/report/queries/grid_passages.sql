-- The grid of a query: a row per passage, its grades and answers in the order of the items
select
    grid.passage_id,
    any_value(grid.label) as label,
    round(any_value(grid.mean_grade), 2) as mean_grade,
    any_value(judgments.relevance) as judgment,
    list(grid.grade order by grid.item_id) as grades,
    list(grid.answer order by grid.item_id) as answers
from grid
left join lake.raw.judgments as judgments
    on
        judgments.collection = $collection
        and judgments.assessor = $assessor
        and grid.query_id = judgments.query_id
        and grid.passage_id = judgments.passage_id
where grid.grader = $grader and grid.query_id = $query_id
group by grid.passage_id
order by any_value(grid.mean_grade) desc, grid.passage_id asc
