-- Which rubric items do non-relevant passages answer too, most often first?
-- :collection :grader :rubric_version
-- :tau = 4                     a grade of tau or more answers an item
-- :below = min_relevant        passages judged lower are non-relevant (1 in the RUBRIC workbench)
-- :query_id
select
    spurious_items.collection,
    spurious_items.grader,
    spurious_items.rubric_version,
    spurious_items.below,
    spurious_items.assessor,
    spurious_items.query_id,
    queries.text as query,
    nullif(array_to_string(items.facet_ids, ', '), '') as facet_id,
    spurious_items.item_id,
    coalesce(spurious_items.item_text, spurious_items.item_id) as item,
    spurious_items.n_hits,
    spurious_items.n_non_relevant,
    round(spurious_items.rate, 3) as rate,
    spurious_items.n_relevant_hits,
    spurious_items.n_relevant
from marts.spurious_items
inner join raw.queries as queries using (collection, query_id)
left join intermediate.int_grader_items as items
    using (collection, grader, rubric_version, query_id, item_id)
where
    spurious_items.tau = cast($tau as integer)
    and (
        spurious_items.below = try_cast($below as integer)
        or ($below = 'min_relevant' and spurious_items.is_usual)
    )
    and $asked_of_spurious_items
order by
    spurious_items.rate desc,
    spurious_items.n_hits desc,
    spurious_items.collection asc,
    spurious_items.grader asc,
    spurious_items.rubric_version asc,
    spurious_items.assessor asc,
    spurious_items.query_id asc,
    spurious_items.item_id asc
