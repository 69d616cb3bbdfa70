{# What the yml files say of what people ask: marts, raw tables and seeds. #}

{% macro described_tables() -%}
    {%- set tables = [] -%}
    {%- set nodes = graph.nodes | dictsort + graph.sources | dictsort if execute else [] -%}
    {%- for _, node in nodes -%}
        {%- if node.resource_type == 'source' or node.config.materialized == 'seed_file'
            or (node.resource_type == 'model' and node.schema == 'marts') -%}
            {%- do tables.append((node.schema, node.identifier or node.alias, node)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(tables | sort(attribute='0,1')) }}
{%- endmacro %}

{# Rows for `values`: a table's name and description. #}
{% macro table_descriptions() -%}
    {%- set rows = [] -%}
    {%- for schema, table, node in described_tables() -%}
        {%- do rows.append(text_row(schema, table, node.description)) -%}
    {%- endfor -%}
    {{ rows | join(',\n') or "('', '', '')" }}
{%- endmacro %}

{# Rows for `values`: a table's name, and each column's name, type and description. Migrations make
   the raw tables, so the lake knows their types. #}
{% macro column_descriptions() -%}
    {%- set rows = [] -%}
    {%- set raw_types = {} -%}
    {%- if execute -%}
        {%- for table, column, type in run_query(
            "select table_name, column_name, data_type from duckdb_columns() "
            ~ "where database_name = '" ~ target.database ~ "' and schema_name = 'raw'"
        ).rows -%}
            {%- do raw_types.update({table ~ '.' ~ column: type}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for schema, table, node in described_tables() -%}
        {%- for column in node.columns.values() -%}
            {%- set raw_type = raw_types.get(table ~ '.' ~ column.name, '') -%}
            {%- set type = (column.data_type or raw_type) | upper -%}
            {%- do rows.append(
                text_row(schema, table, column.name, loop.index, type, column.description)
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ rows | join(',\n') or "('', '', '', 0, '', '')" }}
{%- endmacro %}

{# Values in parentheses; an empty text is null. #}
{% macro text_row() -%}
    {%- set values = [] -%}
    {%- for value in varargs -%}
        {%- if value is number -%}
            {%- do values.append(value) -%}
        {%- else -%}
            {%- do values.append("'" ~ value.strip().replace("'", "''") ~ "'") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return('(' ~ values | join(', ') ~ ')') }}
{%- endmacro %}
