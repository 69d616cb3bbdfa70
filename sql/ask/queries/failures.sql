-- Why did pairs fail, by kind of error, the most frequent first?
-- :collection :grader
select
    collection,
    grader,
    error_kind,
    n_pairs,
    n_queries,
    last_seen_at
from marts.grading_failures
where
    $asked_of_grading_failures
order by
    n_pairs desc,
    collection asc,
    grader asc,
    error_kind asc
