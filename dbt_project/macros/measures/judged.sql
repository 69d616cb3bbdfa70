{# Judged: the share of the top k that has a label. #}
{% macro judged() -%}
    len([hit.rank for hit in hits[1:k] if hit.rank <= k]) / k
{%- endmacro %}
