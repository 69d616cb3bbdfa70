{# A seed is a model that holds the rows of a CSV file that people keep. Its query is the check: it
   reads `file_rows()`, and returns a row for each row that is wrong (`bad_row`, `problem`). Only
   when it returns none do the rows land, in one transaction: of a file with a wrong row nothing
   does, and what was there stays.

   Files are read from the folder that the plug-in gathers (sql/build/seeds.py), people's own over the
   packaged ones, as they are written there: nothing about quotes is guessed. The folder is a variable
   of the connection and not a setting of the project, so that dbt need not parse everything again for
   each lake. Columns are those of their yml, in the file's order. #}
{% materialization seed_file, adapter='duckdb' %}
    {%- set wrong = run_query(sql) -%}
    {% if wrong.rows %}
        {%- set lines = [this.name ~ '.csv: nothing of it lands (row 1 is the one below the names)'] -%}
        {%- for row in wrong.rows -%}
            {%- do lines.append(row['bad_row'] ~ ': ' ~ row['problem']) -%}
        {%- endfor -%}
        {% do exceptions.raise_compiler_error(lines | join('\n')) %}
    {% endif %}
    {{ return(replace_relation('table', 'select * from ' ~ file_rows())) }}
{% endmaterialization %}

{% macro file_rows() -%}
    {%- if execute -%}
        /* the file */
        read_csv(
            getvariable('seeds_folder') || '/{{ model.name }}.csv',
            header = true,
            auto_detect = false,
            parallel = false,
            delim = ',',
            quote = '"',
            escape = '"',
            nullstr = '',
            hive_partitioning = false,
            columns = {{ file_columns() }}
        )
        /* the file */
    {%- else -%}
        the_file
    {%- endif -%}
{%- endmacro %}

{# As DuckDB writes a struct: {'column': 'type', ...} #}
{% macro file_columns() -%}
    {%- set pairs = [] -%}
    {%- for column in model.columns.values() -%}
        {%- do pairs.append("'" ~ column.name ~ "': '" ~ column.data_type ~ "'") -%}
    {%- endfor -%}
    {{ return('{' ~ pairs | join(', ') ~ '}') }}
{%- endmacro %}

{# What can be wrong with the name of a row, the first conditions of a `case`. #}
{% macro name_is_wrong(name, within=none) -%}
    when not regexp_full_match(coalesce({{ name }}, ''), '[A-Za-z0-9][A-Za-z0-9_.+=@-]*')
            then 'a name has letters, digits and . _ + = @ - only'
    {% if within %}when count(*) over (partition by {{ within }}) > 1 then 'listed twice'{% endif %}
{%- endmacro %}
