-- On which grades do the people who reviewed them differ most?
-- :collection :grader :query_id
with

items as (
    select
        collection,
        query_id,
        item_id,
        arg_max(text, rubric_version) as item
    from marts.rubric_items_effective
    group by all
)

select
    review_conflicts.collection,
    review_conflicts.grader,
    review_conflicts.query_id,
    review_conflicts.passage_id,
    coalesce(items.item, review_conflicts.item_id) as item,
    review_conflicts.grade,
    review_conflicts.said,
    review_conflicts.settled_by,
    review_conflicts.settled_grade
from marts.review_conflicts
left join items using (collection, query_id, item_id)
where
    $asked_of_review_conflicts
order by
    review_conflicts.highest - review_conflicts.lowest desc,
    review_conflicts.collection asc,
    review_conflicts.grader asc,
    review_conflicts.query_id asc,
    review_conflicts.passage_id asc,
    review_conflicts.item_id asc
