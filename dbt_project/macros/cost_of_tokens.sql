{# What tokens cost at a price of int_prices; null where an engine did not count them. Beside it
   goes `asof left join prices on model = prices.model and day >= prices.from_date`. #}
{% macro cost_of_tokens(used) -%}
    case
        when {{ used }}.is_counted
            then
                ({{ used }}.prompt_tokens - {{ used }}.cached_tokens) * prices.input_price
                + {{ used }}.cached_tokens * prices.cached_price
                + {{ used }}.completion_tokens * prices.output_price
    end
{%- endmacro %}

{# The tokens of grades, summed. An engine of one's own may not count. #}
{% macro summed_tokens() -%}
    cast(coalesce(sum(grades.prompt_tokens), 0) as bigint) as prompt_tokens,
    cast(coalesce(sum(grades.cached_tokens), 0) as bigint) as cached_tokens,
    cast(coalesce(sum(grades.completion_tokens), 0) as bigint) as completion_tokens,
    bool_and(
        grades.status = 'failed'
        or (grades.prompt_tokens is not null and grades.completion_tokens is not null)
    ) as is_counted
{%- endmacro %}
