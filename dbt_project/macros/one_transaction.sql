{# The end of a run of dbt by itself: what it wrote is committed, if nothing failed. The transaction
   was begun by sql/build/dbt_plugin.py. #}
{% macro end_of_run(results) -%}
    {%- set failures = ['error', 'fail', 'runtime error'] -%}
    {%- set failed = results | selectattr('status', 'in', failures) | list -%}
    {%- if execute -%}
        {%- if failed -%}
            {% do run_query('rollback') %}
            {% do log('Nothing of this run is kept: the lake is as it was before.', info=true) %}
        {%- else -%}
            {% do run_query(commit_message()) %}
            {% do run_query('commit') %}
        {%- endif -%}
        {% do run_query('begin') %}
    {%- endif -%}
{%- endmacro %}

{# Says in `gradelake log` what this commit is. #}
{% macro commit_message() -%}
    call {{ target.database }}.set_commit_message(
        '{{ env_var("USER", "dbt") | replace("'", "''") }}',
        'build: dbt {{ flags.WHICH }}',
        extra_info => '{"kind": "build", "invocation_id": "{{ invocation_id }}"}'
    )
{%- endmacro %}
