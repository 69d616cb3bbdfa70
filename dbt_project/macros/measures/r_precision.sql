{# Rprec: the precision at the rank R, where R passages are relevant. #}
{% macro r_precision() -%}
    len({{ ranks_to('n_relevant') }}) / n_relevant
{%- endmacro %}
