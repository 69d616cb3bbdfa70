-- Which passages' labels changed with an edit of the rubric, and because of which item?
-- :collection :grader :policy
-- :rubric_version = newest     the version that changed the labels
-- :query_id
select
    impact.collection,
    impact.grader,
    impact.policy,
    impact.rubric_version,
    impact.query_id,
    impact.passage_id,
    impact.label_before,
    impact.label_after,
    impact.n_missing_after as n_missing,
    impact.action,
    impact.grade,
    impact.text,
    impact.item_id
from marts.rubric_impact as impact
where
    $asked_of_impact
order by
    impact.collection asc,
    impact.grader asc,
    impact.policy asc,
    impact.rubric_version desc,
    impact.query_id asc,
    abs(coalesce(impact.label_after, 0) - coalesce(impact.label_before, 0)) desc,
    impact.passage_id asc
