{# R: the share of the relevant passages that is in the top k. #}
{% macro recall() -%}
    len({{ ranks_to('k') }}) / n_relevant
{%- endmacro %}
