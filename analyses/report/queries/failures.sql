-- Why pairs failed
select
    grader,
    error_kind,
    n_pairs,
    n_queries,
    newest_error
from lake.marts.grading_failures
where collection = $collection
order by n_pairs desc, grader asc, error_kind asc
