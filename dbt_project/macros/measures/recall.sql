{# R: the share of the relevant passages that is in the top k. #}
{% macro recall() -%}
    len([rank for rank in ranks[1:k] if rank <= k]) / n_relevant
{%- endmacro %}
