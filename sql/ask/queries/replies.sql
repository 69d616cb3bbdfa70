-- What were models asked for, day by day, what came of it, and what did it cost?
-- :collection :grader
-- A cost of null is unknown: there is no price, or tokens were not counted.
select
    collection,
    grader,
    purpose,
    cast(asked_at as date) as day,
    state,
    count(*) as n_prompts,
    count(*) filter (where not is_read) as n_unread,
    cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    cast(sum(completion_tokens) as bigint) as completion_tokens,
    -- what is known in part is not known
    if(bool_and(cost is not null), sum(cost), null) as cost,
    any_value(currency) as currency,
    median(seconds) as median_seconds
from marts.replies
where $asked_of_replies
group by all
order by
    day desc,
    collection asc,
    grader asc,
    purpose asc,
    state asc
