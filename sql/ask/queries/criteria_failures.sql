-- Criteria of which type do a system's answers fail most?
-- :collection :grader :rubric_version :system
select
    collection,
    grader,
    rubric_version,
    system,
    criterion_type,
    n_judged,
    n_failed,
    failed_share
from marts.criteria_failures
where
    $asked_of_criteria_failures
order by
    collection asc,
    grader asc,
    rubric_version asc,
    system asc,
    failed_share desc,
    n_judged desc,
    criterion_type asc
