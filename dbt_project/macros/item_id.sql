{# query_id[/facet_id]/md5 of the stripped text: the RUBRIC workbench's published scheme. #}
{% macro item_id(query_id, facet_id, item_text) -%}
    concat_ws('/', {{ query_id }}, nullif({{ facet_id }}, ''), md5({{ item_text }}))
{%- endmacro %}
