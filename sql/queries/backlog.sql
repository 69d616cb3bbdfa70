-- How many grades are missing, per grader and query?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :rubric_version = 0          the version of the rubric; 0 is the banks as ingested
-- :query_id = any              a query
select
    collection,
    grader,
    query_id,
    count(*) as n_missing,
    count(distinct passage_id) as n_passages,
    count(distinct item_id) as n_items
from marts.grading_backlog
where
    rubric_version = cast($rubric_version as integer)
    and ($collection is null or collection = $collection)
    and ($grader is null or grader = $grader)
    and ($query_id is null or query_id = $query_id)
group by all
order by
    collection asc,
    grader asc,
    n_missing desc,
    query_id asc
