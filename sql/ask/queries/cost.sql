-- How many tokens did each grader use, day by day, and what did they cost?
-- :collection :grader
-- A cost of null is unknown, not 0: seeds/prices.csv has no price for the model.
select
    collection,
    grader,
    model,
    day,
    cast(sum(n_pairs) as bigint) as n_pairs,
    cast(sum(n_failed) as bigint) as n_failed,
    cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    cast(sum(cached_tokens) as bigint) as cached_tokens,
    cast(sum(completion_tokens) as bigint) as completion_tokens,
    -- what is known in part is not known
    if(bool_and(cost is not null), sum(cost), null) as cost,
    any_value(currency) as currency
from marts.grading_cost
where $asked_of_grading_cost
group by all
order by
    day desc,
    collection asc,
    grader asc
