{# SetP, SetR and SetF (their harmonic mean) take all that was retrieved, whatever its rank. #}
{% macro set_precision() -%}
    len(ranks) / n_retrieved
{%- endmacro %}

{% macro set_recall() -%}
    len(ranks) / n_relevant
{%- endmacro %}

{% macro set_f() -%}
    2 * len(ranks) / (n_retrieved + n_relevant)
{%- endmacro %}
