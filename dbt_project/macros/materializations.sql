{# How a model is replaced in the lake: in one transaction, so that there is one commit per model, a
   reader of the working catalog never finds it missing, and a killed build leaves no half-renamed
   copies. dbt's own way needs two commits and a backup table per model. A table whose definition is
   the one the lake has keeps its place and gets new rows: a commit that changes no schema is twice
   as fast, and every connection need not read the catalog again. The definition's hash is the
   comment of a table or view. #}

{% materialization table, adapter='duckdb', supported_languages=['sql'] %}
    {% do replace_rows(definition_of_table(), sql) %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{% macro replace_rows(definition, query) %}
    {% if is_whole(definition) %}
        {% do replace_relation('table', definition, query=query) %}
    {% else %}
        {{ run_hooks(pre_hooks, inside_transaction=True) }}
        {% call statement('announce') -%}
            {{ announce(this.identifier) }}
        {%- endcall %}
        {% call statement('delete') -%}
            delete from {{ this }}
        {%- endcall %}
        {% call statement('main') -%}
            insert into {{ this }} by name
            {{ query }}
        {%- endcall %}
        {{ run_hooks(post_hooks, inside_transaction=True) }}
        {{ adapter.commit() }}
    {% endif %}
{% endmacro %}

{# The code of the model and of every model it reads: another formula, or another column, makes the
   table anew. #}
{% macro definition_of_table() -%}
    {%- set code = code_of(model.unique_id) | join -%}
    {{ return('definition ' ~ local_md5(code ~ config.get('contract'))) }}
{%- endmacro %}

{% macro is_whole(definition) -%}
    {{ return(
        load_cached_relation(this) is none
        or should_full_refresh()
        or definition_in_lake('table', this) != definition
    ) }}
{%- endmacro %}

{% macro code_of(unique_id, seen=none) -%}
    {%- set seen = seen if seen is not none else [] -%}
    {%- set code = [] -%}
    {%- if unique_id not in seen and unique_id in graph.nodes -%}
        {%- do seen.append(unique_id) -%}
        {%- set node = graph.nodes[unique_id] -%}
        {%- if node.resource_type == 'model' -%}
            {%- do code.append(node.raw_code) -%}
            {%- for parent in node.depends_on.nodes -%}
                {%- do code.extend(code_of(parent, seen)) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(code) }}
{%- endmacro %}

{# A view whose definition is the one the lake has is left alone: no commit, nothing to reload. #}
{% materialization view, adapter='duckdb', supported_languages=['sql'] %}
    {%- set definition = 'definition ' ~ local_md5(sql ~ config.get('contract')) -%}
    {% if definition_in_lake('view', this) == definition %}
        {% call noop_statement('main', 'unchanged', 'OK', '') %}{% endcall %}
    {% else %}
        {% do replace_relation('view', definition) %}
    {% endif %}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}

{% macro replace_relation(type, comment=none, afterwards=[], query=none) %}
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
            {{ create_view_as(relation, query or sql) }}
        {%- else -%}
            {{ create_table_as(False, relation, query or sql) }}
        {%- endif -%}
    {%- endcall %}
    {% if comment -%}
        {% call statement('comment') -%}
            comment on {{ type }} {{ relation }} is '{{ comment }}'
        {%- endcall %}
    {%- endif %}
    {% for then in afterwards %}
        {% call statement('afterwards') -%}{{ then }}{%- endcall %}
    {% endfor %}
    {{ run_hooks(post_hooks, inside_transaction=True) }}
    {{ adapter.commit() }}
    {{ run_hooks(post_hooks, inside_transaction=False) }}
{% endmacro %}

{# Says in `gradelake log` what this commit is. #}
{% macro announce(what) -%}
    call {{ this.database }}.set_commit_message(
        '{{ env_var("GRADELAKE_AUTHOR", "dbt") | replace("'", "''") }}',
        'build: {{ what }}',
        extra_info => '{"kind": "build", "invocation_id": "{{ invocation_id }}"}'
    )
{%- endmacro %}
