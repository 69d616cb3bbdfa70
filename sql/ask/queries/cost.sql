-- How many tokens did each grader use, day by day?
-- :collection = any            a collection
-- :grader = any                a grader's name
select
    collection,
    grader,
    model,
    day,
    n_pairs,
    n_failed,
    prompt_tokens,
    cached_tokens,
    completion_tokens
from marts.grading_cost
where
    ($collection is null or collection = $collection)
    and ($grader is null or grader = $grader)
order by
    day desc,
    collection asc,
    grader asc
