-- How many grades are missing, per grader and query?
-- :collection :grader
-- :rubric_version = newest     a version of the rubric, or any; 0 is the banks as ingested
-- :query_id
select
    grading_backlog.collection,
    grader,
    query_id,
    count(*) as n_missing,
    count(distinct passage_id) as n_passages,
    count(distinct item_id) as n_items
from marts.grading_backlog
left join marts.rubric_versions as versions using (collection, rubric_version)
where
    -- what a judge without a rubric misses is missing whatever the version
    (
        $rubric_version is null
        or versions.names is null
        or list_contains(versions.names, $rubric_version)
    )
    and $asked_of_grading_backlog
group by all
order by
    grading_backlog.collection asc,
    grader asc,
    n_missing desc,
    query_id asc
