{# The end of a run of dbt by itself: what it wrote is committed, if nothing failed, and the last
   line says what readers have. The transaction was begun by sql/build/dbt_plugin.py, which also says
   what a build of all models is made from. #}
{% macro end_of_run(results) -%}
    {%- set failures = ['error', 'fail', 'runtime error'] -%}
    {%- set failed = results | selectattr('status', 'in', failures) | list -%}
    {%- if execute -%}
        {%- if failed -%}
            {% do run_query('rollback') %}
            {% do log('Nothing of this run is kept: the lake is as it was before.', info=true) %}
        {%- else -%}
            {%- set made_from = run_query("select getvariable('made_from')").rows[0][0] -%}
            {% do run_query(commit_message(made_from)) %}
            {% do run_query('commit') %}
            {%- if made_from -%}
                {% do log(
                    'Readers have the last release still: `gradelake build` publishes what was '
                    ~ 'built, in a second.',
                    info=true
                ) %}
            {%- elif flags.WHICH in ('build', 'run', 'seed', 'snapshot') -%}
                {% do log(
                    'Readers have the last release still, and these models stand in the working '
                    ~ 'catalog (--live): `gradelake build` builds all and publishes it.',
                    info=true
                ) %}
            {%- endif -%}
        {%- endif -%}
        {% do run_query('begin') %}
    {%- endif -%}
{%- endmacro %}

{# Says in `gradelake log` what this commit is; a build of all models also what it was made from. #}
{% macro commit_message(made_from) -%}
    call {{ target.database }}.set_commit_message(
        '{{ env_var("USER", "dbt") | replace("'", "''") }}',
        'build: dbt {{ flags.WHICH }}',
        extra_info => '{"kind": "build", "made_from": {{ made_from or "null" }}, '
            || '"invocation_id": "{{ invocation_id }}"}'
    )
{%- endmacro %}
