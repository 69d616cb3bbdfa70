-- Which pairs of the pool have no grade, or failed?
-- :collection :grader :rubric_version :query_id
-- :status = any                missing or failed
select
    missing_grades.collection,
    missing_grades.grader,
    missing_grades.rubric_version,
    missing_grades.query_id,
    missing_grades.passage_id,
    missing_grades.item_id,
    missing_grades.status,
    missing_grades.item_text as item,
    left(missing_grades.text, 80) as text
from marts.missing_grades
where
    $asked_of_missing_grades
order by all
