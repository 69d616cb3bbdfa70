{# Post-hook of the newest version of a model: the name without a version reads this one. It was a
   table where there was one version only. #}
{% macro point_latest_here(name) -%}
    {%- set unversioned = adapter.get_relation(this.database, this.schema, name) -%}
    {%- if unversioned and unversioned.type == 'table' -%}
        drop table {{ unversioned }};
    {%- endif %}
    create or replace view {{ this.database }}.{{ this.schema }}.{{ name }} as
    select * from {{ this }}
{%- endmacro %}
