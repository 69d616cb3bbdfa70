{# P: the share of the top k that is relevant. #}
{% macro precision() -%}
    len([rank for rank in ranks[1:k] if rank <= k]) / k
{%- endmacro %}
