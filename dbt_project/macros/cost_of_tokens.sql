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

{# What graders used, by day and query and by `asked`, another column of the grades. #}
{% macro used_by_graders(asked) -%}
    select
        grades.collection,
        graders.grader,
        cast(grades.graded_at as date) as day,
        graders.model,
        grades.query_id,
        grades.{{ asked }},
        count(*) as n_pairs,
        count(*) filter (where grades.status = 'failed') as n_failed,
        {{ summed_tokens('submissions.submission_id is not null') }}
    from {{ source('raw', 'grades') }} as grades
    inner join {{ ref('int_graders') }} as graders using (grader_id)
    left join {{ source('raw', 'submissions') }} as submissions
        on grades.run_id = submissions.submission_id
    -- what a file brought was paid elsewhere, whoever graded
    anti join (
        select run_id from {{ source('raw', 'pipeline_runs') }}
        where starts_with(command, 'import ')
    ) as imports
        on grades.run_id = imports.run_id
    where graders.engine != 'imported'
    group by all
{%- endmacro %}

{# The tokens of grades, summed, and those of them that batches of the provider took. An engine of
   one's own may not count. #}
{% macro summed_tokens(in_batch) -%}
    cast(coalesce(sum(grades.prompt_tokens), 0) as bigint) as prompt_tokens,
    cast(coalesce(sum(grades.cached_tokens), 0) as bigint) as cached_tokens,
    cast(coalesce(sum(grades.completion_tokens), 0) as bigint) as completion_tokens,
    coalesce(sum(grades.prompt_tokens) filter (where {{ in_batch }}), 0)
        as batch_prompt_tokens,
    coalesce(sum(grades.cached_tokens) filter (where {{ in_batch }}), 0)
        as batch_cached_tokens,
    coalesce(sum(grades.completion_tokens) filter (where {{ in_batch }}), 0)
        as batch_completion_tokens,
    bool_and(
        grades.status = 'failed'
        or (grades.prompt_tokens is not null and grades.completion_tokens is not null)
    ) as is_counted
{%- endmacro %}
