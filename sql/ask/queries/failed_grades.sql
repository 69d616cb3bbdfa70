-- Which pairs could not be graded, and why?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :query_id = any              a query
select
    collection,
    grader,
    query_id,
    passage_id,
    item_id,
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
