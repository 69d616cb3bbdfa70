{# How a model is replaced in the lake: dropped and made anew in one transaction, so that there is
   one commit per model, a reader of the working catalog never finds it missing, and a killed build
   leaves no half-renamed copies. dbt's own way needs two commits and a backup table per model. #}

{% materialization table, adapter='duckdb', supported_languages=['sql'] %}
    {{ return(replace_relation('table')) }}
{% endmaterialization %}

{% materialization view, adapter='duckdb', supported_languages=['sql'] %}
    {{ return(replace_relation('view')) }}
{% endmaterialization %}

{% macro replace_relation(type) %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set relation = this.incorporate(type=type) -%}
    {{ run_hooks(pre_hooks, inside_transaction=False) }}
    {{ run_hooks(pre_hooks, inside_transaction=True) }}
    {% call statement('announce') -%}
        {{ announce(this.identifier) }}
    {%- endcall %}
    {% if existing is not none -%}
        {% call statement('drop') -%}
            drop {{ existing.type }} {{ existing }}
        {%- endcall %}
    {%- endif %}
    {% call statement('main') -%}
        {%- if type == 'view' -%}
            {{ create_view_as(relation, sql) }}
        {%- else -%}
            {{ create_table_as(False, relation, sql) }}
        {%- endif -%}
    {%- endcall %}
    {% do persist_docs(relation, model) %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
    {{ return({'relations': [relation]}) }}
{% endmacro %}

{# Says in `gradelake log` what this commit is. #}
{% macro announce(what) -%}
    call {{ this.database }}.set_commit_message(
        '{{ env_var("GRADELAKE_AUTHOR", "dbt") | replace("'", "''") }}',
        'build: {{ what }}',
        extra_info => '{"invocation_id": "{{ invocation_id }}"}'
    )
{%- endmacro %}
