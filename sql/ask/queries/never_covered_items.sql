-- Which rubric items does no passage in the pool answer?
-- :collection :grader :rubric_version
-- :tau = 4                     a grade of tau or more answers an item
-- :query_id
select
    never_covered_items.collection,
    never_covered_items.grader,
    never_covered_items.rubric_version,
    never_covered_items.query_id,
    queries.text as query,
    nullif(array_to_string(items.facet_ids, ', '), '') as facet_id,
    never_covered_items.item_id,
    coalesce(never_covered_items.item_text, never_covered_items.item_id) as item,
    never_covered_items.weight,
    never_covered_items.best_grade,
    never_covered_items.n_graded
from marts.never_covered_items
inner join raw.queries as queries using (collection, query_id)
left join intermediate.int_grader_items as items
    using (collection, grader, rubric_version, query_id, item_id)
where
    never_covered_items.tau = cast($tau as integer)
    and $asked_of_never_covered_items
order by
    never_covered_items.best_grade asc,
    never_covered_items.n_graded desc,
    never_covered_items.collection asc,
    never_covered_items.grader asc,
    never_covered_items.rubric_version asc,
    never_covered_items.query_id asc,
    never_covered_items.item_id asc
