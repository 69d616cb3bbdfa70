{# The definitions of the lake's tables and views, read once as a run begins: to ask the catalog
   again at every model costs more than most models do. A run meets each model once. #}

{% macro read_definitions() -%}
    create or replace table memory.main.definitions as
    select 'table' as kind, schema_name, table_name as relation_name, comment as definition
    from duckdb_tables()
    where database_name = '{{ target.database }}'
    union all
    select 'view' as kind, schema_name, view_name as relation_name, comment as definition
    from duckdb_views()
    where database_name = '{{ target.database }}'
{%- endmacro %}

{% macro definition_in_lake(kind, relation) -%}
    {%- set found = run_query(
        "select definition from memory.main.definitions where kind = '" ~ kind
        ~ "' and schema_name = '" ~ relation.schema
        ~ "' and relation_name = '" ~ relation.identifier ~ "'"
    ) -%}
    {{ return(found.columns[0].values() | first if found.rows else none) }}
{%- endmacro %}
