{# Post-hook of the newest version of a model: the name without a version reads this one. #}
{% macro point_latest_here(name) -%}
    create or replace view {{ this.database }}.{{ this.schema }}.{{ name }} as
    select * from {{ this }}
{%- endmacro %}
