-- On which grades do people who reviewed them differ, farthest apart first?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :query_id = any              a query
select
    review_conflicts.collection,
    review_conflicts.grader,
    review_conflicts.query_id,
    review_conflicts.passage_id,
    coalesce(any_value(items.item_text), review_conflicts.item_id) as item,
    review_conflicts.grade,
    review_conflicts.said,
    review_conflicts.settled_by,
    review_conflicts.settled_grade
from marts.review_conflicts
left join marts.rubric_items_effective as items using (collection, query_id, item_id)
where
    ($collection is null or review_conflicts.collection = $collection)
    and ($grader is null or review_conflicts.grader = $grader)
    and ($query_id is null or review_conflicts.query_id = $query_id)
group by all, review_conflicts.item_id, review_conflicts.highest, review_conflicts.lowest
order by
    review_conflicts.highest - review_conflicts.lowest desc,
    review_conflicts.collection asc,
    review_conflicts.grader asc,
    review_conflicts.query_id asc,
    review_conflicts.passage_id asc,
    item asc
