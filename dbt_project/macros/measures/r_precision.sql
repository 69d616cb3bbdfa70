{# Rprec: the precision at the rank R, where R passages are relevant. #}
{% macro r_precision() -%}
    len([rank for rank in ranks[1:n_relevant] if rank <= n_relevant]) / n_relevant
{%- endmacro %}
