{# Success: 1 where a relevant passage is in the top k. #}
{% macro success() -%}
    case when ranks[1] <= k then 1 end
{%- endmacro %}
