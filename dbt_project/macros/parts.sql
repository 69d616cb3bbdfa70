{# A table that is kept part by part (a label set, a version of a rubric): a build computes anew
   only the parts whose inputs changed. The model `inputs` names each `part` and a hash of all that
   it is computed from; the model itself starts from `stale_parts`. What was computed from which
   inputs is in intermediate.built_parts, written in the same transaction. #}

{% materialization parts, adapter='duckdb' %}
    {%- set definition = definition_of_table() -%}
    {%- set inputs = ref(config.require('inputs')) -%}
    {%- set part_key = config.require('part_key') -%}
    {%- set whole = is_whole(definition) -%}
    {% do create_built_parts() %}
    {% do run_query(stale_parts_table(inputs, whole)) %}
    {% set changes = run_query("select count(*) from temp.stale_parts").columns[0].values()[0] %}
    {% if whole %}
        {% do replace_relation('table', definition, record_parts(inputs)) %}
    {% elif changes %}
        {{ run_hooks(pre_hooks, inside_transaction=True) }}
        {% call statement('announce') -%}
            {{ announce(this.identifier) }}
        {%- endcall %}
        {% call statement('delete') -%}
            delete from {{ this }}
            where {{ part_key }} in (select part from temp.stale_parts)
        {%- endcall %}
        {% call statement('main') -%}
            insert into {{ this }} by name
            {{ sql }}
        {%- endcall %}
        {% for recording in record_parts(inputs) %}
            {% call statement('record') -%}{{ recording }}{%- endcall %}
        {% endfor %}
        {{ run_hooks(post_hooks, inside_transaction=True) }}
        {{ adapter.commit() }}
    {% else %}
        {% call noop_statement('main', 'unchanged', 'OK', '') %}{% endcall %}
    {% endif %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{% macro built_parts() -%}
    {{ target.database }}.intermediate.built_parts
{%- endmacro %}

{% macro create_built_parts() -%}
    {%- set found = run_query(
        "from memory.main.definitions where relation_name = 'built_parts'"
    ) -%}
    {% if not found.rows %}
        {% call statement('announce') -%}
            {{ announce('built_parts') }}
        {%- endcall %}
        {% call statement('create') -%}
            create table if not exists {{ built_parts() }} (model varchar, part varchar, inputs ubigint)
        {%- endcall %}
        {% do adapter.commit() %}
    {% endif %}
{%- endmacro %}

{# Parts to compute anew, and those that are no more. #}
{% macro stale_parts_table(inputs, whole) -%}
    create or replace temp table stale_parts as
    select part
    from {{ inputs }} as current_parts
    full join (
        select part, inputs from {{ built_parts() }}
        where model = '{{ this.identifier }}'
    ) as former_parts using (part)
    where {{ whole }} or current_parts.inputs is distinct from former_parts.inputs
{%- endmacro %}

{% macro record_parts(inputs) -%}
    {{ return([
        "delete from " ~ built_parts() ~ " where model = '" ~ this.identifier
        ~ "' and part in (select part from temp.stale_parts)",
        "insert into " ~ built_parts() ~ " select '" ~ this.identifier ~ "', part, inputs from "
        ~ inputs ~ " where part in (select part from temp.stale_parts)"
    ]) }}
{%- endmacro %}

{# In a model: the parts it has to compute in this build. A unit test computes all. #}
{% macro only_stale_parts() -%}
    {%- if model is defined and model.resource_type == 'model' -%}
        where part in (select stale_parts.part from temp.stale_parts)
    {%- endif -%}
{%- endmacro %}

{# In a model: the rows of `relation` in those parts. `key` is what it shares with `inputs`. #}
{% macro rows_of_stale_parts(relation, inputs, key) -%}
    select kept.*
    from {{ relation }} as kept
    semi join (select * from {{ inputs }} {{ only_stale_parts() }}) as stale using ({{ key }})
{%- endmacro %}
