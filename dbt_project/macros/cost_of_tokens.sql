{# What tokens cost at a price of int_prices; null where an engine did not count them. Beside it
   goes `asof left join prices on model = prices.model and day >= prices.from_date`. #}
{% macro cost_of_tokens(used) -%}
    case
        when {{ used }}.is_counted
            then
                ({{ used }}.prompt_tokens - {{ used }}.cached_tokens) * prices.input_price
                + {{ used }}.cached_tokens * prices.cached_price
                + {{ used }}.completion_tokens * prices.output_price
                - (1 - prices.batch_share) * (
                    ({{ used }}.batch_prompt_tokens - {{ used }}.batch_cached_tokens)
                    * prices.input_price
                    + {{ used }}.batch_cached_tokens * prices.cached_price
                    + {{ used }}.batch_completion_tokens * prices.output_price
                )
    end
{%- endmacro %}

{# What graders used, by day and query and by `asked`, another column of the grades: pairs as grades
   have them, tokens as the log of replies does. #}
{% macro used_by_graders(asked) -%}
    with

    pairs as (
        select
            grades.collection,
            grades.grader_id,
            cast(grades.graded_at as date) as day,
            grades.query_id,
            grades.{{ asked }},
            count(*) as n_pairs,
            count(*) filter (where grades.status = 'failed') as n_failed
        from {{ source('raw', 'grades') }} as grades
        -- what a file brought was paid elsewhere, whoever graded
        anti join (
            select run_id from {{ source('raw', 'pipeline_runs') }}
            where starts_with(command, 'import ')
        ) as imports
            on grades.run_id = imports.run_id
        group by all
    ),

    tokens as (
        select
            replies.collection,
            replies.grader_id,
            cast(replies.asked_at as date) as day,
            replies.query_id,
            replies.{{ asked }},
            {{ summed_tokens() }}
        from {{ source('raw', 'replies') }} as replies
        where
            replies.purpose = 'grade'
            and replies.query_id is not null
        group by all
    )

    select
        collection,
        graders.grader,
        day,
        graders.model,
        query_id,
        {{ asked }},
        coalesce(pairs.n_pairs, 0) as n_pairs,
        coalesce(pairs.n_failed, 0) as n_failed,
        coalesce(tokens.prompt_tokens, 0) as prompt_tokens,
        coalesce(tokens.cached_tokens, 0) as cached_tokens,
        coalesce(tokens.completion_tokens, 0) as completion_tokens,
        coalesce(tokens.batch_prompt_tokens, 0) as batch_prompt_tokens,
        coalesce(tokens.batch_cached_tokens, 0) as batch_cached_tokens,
        coalesce(tokens.batch_completion_tokens, 0) as batch_completion_tokens,
        coalesce(tokens.is_counted, true) as is_counted
    from pairs
    full outer join tokens using (collection, grader_id, day, query_id, {{ asked }})
    inner join {{ ref('graders') }} as graders using (grader_id)
    where graders.engine != 'imported'
{%- endmacro %}

{# The tokens of replies, summed, and those of them that batches of the provider took. An engine of
   one's own may not count. #}
{% macro summed_tokens() -%}
    cast(coalesce(sum(replies.prompt_tokens), 0) as bigint) as prompt_tokens,
    cast(coalesce(sum(replies.cached_tokens), 0) as bigint) as cached_tokens,
    cast(coalesce(sum(replies.completion_tokens), 0) as bigint) as completion_tokens,
    coalesce(sum(replies.prompt_tokens) filter (where replies.in_batch), 0)
        as batch_prompt_tokens,
    coalesce(sum(replies.cached_tokens) filter (where replies.in_batch), 0)
        as batch_cached_tokens,
    coalesce(sum(replies.completion_tokens) filter (where replies.in_batch), 0)
        as batch_completion_tokens,
    bool_and(
        replies.state != 'answered'
        or (replies.prompt_tokens is not null and replies.completion_tokens is not null)
    ) as is_counted
{%- endmacro %}
