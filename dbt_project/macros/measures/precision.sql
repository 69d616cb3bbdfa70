{# P: the share of the top k that is relevant. #}
{% macro precision() -%}
    len({{ ranks_to('k') }}) / k
{%- endmacro %}
