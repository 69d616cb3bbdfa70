{# What an item counts for, a row each: its whole query (null), and the facets it is of. #}
{% macro each_scope(facet_ids) -%}
    unnest(list_prepend(null, coalesce({{ facet_ids }}, [])))
{%- endmacro %}
