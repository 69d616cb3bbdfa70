{# What a schema holds, for dbt's cache at the start of a run, from DuckLake's own tables: DuckDB's
   information_schema would first read the statistics of every table. #}
{% macro duckdb__list_relations_without_caching(schema_relation) %}
    {%- set found %}
        with

        relations as (
            select table_name as name, schema_id, end_snapshot, 'table' as type
            from {{ ducklake_metadata() }}.ducklake_table
            union all
            select view_name, schema_id, end_snapshot, 'view'
            from {{ ducklake_metadata() }}.ducklake_view
        ),

        schemas as (
            select schema_id, schema_name
            from {{ ducklake_metadata() }}.ducklake_schema
            where end_snapshot is null
        )

        select
            '{{ schema_relation.database }}' as database,
            relations.name,
            schemas.schema_name as schema,
            relations.type
        from relations
        inner join schemas using (schema_id)
        where
            relations.end_snapshot is null
            and schemas.schema_name = '{{ schema_relation.schema }}'
    {% endset %}
    {{ return(run_query(found)) }}
{% endmacro %}

{% macro ducklake_metadata() -%}
    __ducklake_metadata_{{ target.database }}
{%- endmacro %}
