{# RR: 1 / the rank of the first relevant passage (Kantor and Voorhees 2000). #}
{% macro reciprocal_rank() -%}
    case when ranks[1] <= k then 1 / ranks[1] end
{%- endmacro %}
