{# Seeds are read as they are written (sql/seeds.py writes the gathered ones): nothing about quotes
   is guessed, as dbt-duckdb's own macro lets DuckDB do, and the path may hold a quote. #}
{% macro duckdb__load_csv_rows(model, agate_table) %}
    {% set file = adapter.get_seed_file_path(model) | replace("'", "''") %}
    {% set statement %}
        copy {{ this.render() }} from '{{ file }}' (
            format csv, header true, auto_detect false, delimiter ',', quote '"', escape '"',
            nullstr ''
        )
    {% endset %}
    {% do adapter.add_query(statement, abridge_sql_log=True) %}
    {{ return(statement) }}
{% endmacro %}
