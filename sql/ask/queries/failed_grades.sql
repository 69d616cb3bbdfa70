-- Which pairs could not be graded, and why?
-- :collection :grader :query_id
select
    collection,
    grader,
    query_id,
    passage_id,
    item_id,
    failure,
    n_asked,
    error,
    left(response, 80) as response,
    run_id,
    graded_at
from marts.failed_grades
where
    $asked_of_failed_grades
order by
    graded_at desc,
    collection asc,
    grader asc,
    query_id asc,
    passage_id asc,
    item_id asc
