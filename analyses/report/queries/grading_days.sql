-- What was graded each day, what failed of it, and the tokens
select
    cast(day as varchar) as day,
    cast(sum(n_pairs - n_failed) as bigint) as graded,
    cast(sum(n_failed) as bigint) as failed,
    cast(sum(prompt_tokens) as bigint) as prompt_tokens,
    cast(sum(completion_tokens) as bigint) as completion_tokens
from lake.marts.grading_cost
where collection = $collection
group by day
order by day
