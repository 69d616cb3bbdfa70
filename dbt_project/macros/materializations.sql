{# How a model is replaced in the lake: dropped and made anew in one transaction, so that there is
   one commit per model, a reader of the working catalog never finds it missing, and a killed build
   leaves no half-renamed copies. dbt's own way needs two commits and a backup table per model. #}

{% materialization table, adapter='duckdb', supported_languages=['sql'] %}
    {% do replace_relation('table') %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{# A view whose definition is the one the lake has is left alone: no commit, nothing to reload. The
   definition's hash is the view's comment. #}
{% materialization view, adapter='duckdb', supported_languages=['sql'] %}
    {%- set definition = 'definition ' ~ local_md5(sql ~ config.get('contract')) -%}
    {% if view_comment(this) == definition %}
        {% call noop_statement('main', 'unchanged', 'OK', '') %}{% endcall %}
    {% else %}
        {% do replace_relation('view', definition) %}
    {% endif %}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}

{% macro view_comment(relation) %}
    {%- set found = run_query(
        "select comment from duckdb_views() where database_name = '" ~ relation.database
        ~ "' and schema_name = '" ~ relation.schema ~ "' and view_name = '" ~ relation.identifier ~ "'"
    ) -%}
    {{ return(found.columns[0].values() | first if found.rows else none) }}
{% endmacro %}

{% macro replace_relation(type, comment=none) %}
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
    {% if comment -%}
        {% call statement('comment') -%}
            comment on {{ type }} {{ relation }} is '{{ comment }}'
        {%- endcall %}
    {%- endif %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
{% endmacro %}

{# Says in `gradelake log` what this commit is. #}
{% macro announce(what) -%}
    call {{ this.database }}.set_commit_message(
        '{{ env_var("GRADELAKE_AUTHOR", "dbt") | replace("'", "''") }}',
        'build: {{ what }}',
        extra_info => '{"invocation_id": "{{ invocation_id }}"}'
    )
{%- endmacro %}
