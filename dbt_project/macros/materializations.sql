{# How a model is replaced in the lake. All that a run writes is one transaction (one_transaction),
   so nobody meets a model that is gone or half there, and dbt's own way, with backups and renaming,
   is not needed. In one transaction a new table is cheaper than replacing the old one's rows. #}

{% materialization table, adapter='duckdb', supported_languages=['sql'] %}
    {{ return(replace_relation('table', sql)) }}
{% endmaterialization %}

{% materialization view, adapter='duckdb' %}
    {{ return(replace_relation('view', sql)) }}
{% endmaterialization %}

{% macro replace_relation(type, query) %}
    {%- set existing = load_cached_relation(this) -%}
    {%- set relation = this.incorporate(type=type) -%}
    {% if existing is not none -%}
        {% call statement('drop') -%}
            drop {{ existing.type }} {{ existing }}
        {%- endcall %}
    {%- endif %}
    {% call statement('main') -%}
        {%- if type == 'view' -%}
            {{ create_view_as(relation, query) }}
        {%- else -%}
            {{ create_table_as(False, relation, query) }}
        {%- endif -%}
    {%- endcall %}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [relation]}) }}
{% endmacro %}
