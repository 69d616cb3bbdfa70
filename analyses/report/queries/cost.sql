-- What each grader's grades cost
select
    grader,
    string_agg(distinct model, ', ' order by model) as models,
    cast(sum(n_pairs) as bigint) as n_pairs,
    cast(sum(n_failed) as bigint) as n_failed,
    cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    cast(sum(cached_tokens) as bigint) as cached_tokens,
    cast(sum(completion_tokens) as bigint) as completion_tokens,
    -- what is known in part is not known
    if(bool_and(cost is not null), round(sum(cost), 2), null) as cost,
    if(bool_and(cost is not null), any_value(currency), null) as currency,
    min(day) as first_day,
    max(day) as last_day
from lake.marts.grading_cost
where collection = $collection
group by grader
order by grader
