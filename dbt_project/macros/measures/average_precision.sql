{# AP: the mean of the precisions at the ranks of the relevant passages; one that was not found adds
   0 (Harman 1992). #}
{% macro average_precision() -%}
    list_sum([nth / rank for rank, nth in {{ ranks_to('k') }}]) / n_relevant
{%- endmacro %}
