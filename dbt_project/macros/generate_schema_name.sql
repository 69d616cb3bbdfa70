{# A model's schema is the one its folder names, without dbt's usual prefix. #}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name or target.schema }}
{%- endmacro %}
