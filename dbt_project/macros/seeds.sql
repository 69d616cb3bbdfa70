{# Seeds are read from the folder that sql/build/seeds.py gathers, $GRADELAKE_SEEDS, as they are written
   there: nothing about quotes is guessed. Their place is no setting of the project, so that dbt need
   not parse everything anew for each lake. Columns are those of seeds.yml, in the file's order. #}
{% materialization seed, adapter='duckdb' %}
    {%- set columns = config.get('column_types') -%}
    {%- set definition = 'definition ' ~ local_md5(columns | string) -%}
    {% do replace_rows(definition, seed_rows(columns)) %}
    {% do store_result('agate_table', response='OK', agate_table=run_query("from " ~ this)) %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{% macro seed_rows(columns) -%}
    {%- set folder = env_var('GRADELAKE_SEEDS', '') or (model.root_path ~ '/seeds') -%}
    {%- set file = folder ~ '/' ~ this.identifier ~ '.csv' -%}
    select *
    from
        read_csv(
            '{{ file | replace("'", "''") }}',
            header = true,
            auto_detect = false,
            delim = ',',
            quote = '"',
            escape = '"',
            nullstr = '',
            columns = {{ types(columns) }}
        )
{%- endmacro %}

{# As DuckDB writes a struct: {'column': 'type', ...} #}
{% macro types(columns) -%}
    {%- set pairs = [] -%}
    {%- for column, type in columns.items() -%}
        {%- do pairs.append("'" ~ column ~ "': '" ~ type ~ "'") -%}
    {%- endfor -%}
    {{ return('{' ~ pairs | join(', ') ~ '}') }}
{%- endmacro %}
