{# A table that is kept part by part (a label set, a version of a rubric): a build computes anew
   only the parts whose inputs changed. The model `inputs` names each `part` and a hash of all that
   it is computed from; the model itself starts from `stale_parts`. What was computed from which
   inputs is in intermediate.built_parts, written in the same transaction. #}

{% materialization parts, adapter='duckdb' %}
    {%- set inputs = ref(config.require('inputs')) -%}
    {% do run_query(create_built_parts()) %}
    {% do run_query(copy_of_built_parts()) %}
    {%- set whole = (
        load_cached_relation(this) is none
        or should_full_refresh()
        or not run_query(parts_with_this_definition()).rows
    ) -%}
    {% do run_query(stale_parts_table(inputs, whole)) %}
    {% if whole %}
        {% do replace_relation('table', sql) %}
    {% else %}
        {% call statement('delete') -%}
            delete from {{ this }}
            where {{ config.require('part_key') }} in (select part from temp.stale_parts)
        {%- endcall %}
        {% call statement('main') -%}
            insert into {{ this }} by name
            {{ sql }}
        {%- endcall %}
    {% endif %}
    {% do run_query(forget_parts()) %}
    {% do run_query(record_parts(inputs)) %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{% macro built_parts() -%}
    {{ target.database }}.intermediate.built_parts
{%- endmacro %}

{% macro create_built_parts() -%}
    create table if not exists {{ built_parts() }} (
        model varchar,
        part varchar,
        inputs ubigint,
        definitions varchar
    )
{%- endmacro %}

{% macro copy_of_built_parts() -%}
    create temp table if not exists built_parts as
    select * from {{ built_parts() }}
{%- endmacro %}

{# At the end of a run: the copy becomes the table. #}
{% macro keep_built_parts(results) -%}
    {%- if results | selectattr('node.config.materialized', 'equalto', 'parts') | list -%}
        {% do run_query('delete from ' ~ built_parts()) %}
        {% do run_query('insert into ' ~ built_parts() ~ ' select * from temp.built_parts') %}
        {% do run_query('drop table temp.built_parts') %}
    {%- endif -%}
{%- endmacro %}

{# Other code, or another version of what runs it: another table. #}
{% macro parts_with_this_definition() -%}
    select 1
    from temp.built_parts
    where
        model = '{{ this.identifier }}'
        and definitions = getvariable('definitions')
    limit 1
{%- endmacro %}

{# Parts to compute anew, and those that are no more. #}
{% macro stale_parts_table(inputs, whole) -%}
    create or replace temp table stale_parts as
    select part
    from {{ inputs }} as current_parts
    full join (
        select part, inputs from temp.built_parts
        where model = '{{ this.identifier }}'
    ) as former_parts using (part)
    where {{ whole }} or current_parts.inputs is distinct from former_parts.inputs
{%- endmacro %}

{% macro forget_parts() -%}
    delete from temp.built_parts
    where
        model = '{{ this.identifier }}'
        and part in (select part from temp.stale_parts)
{%- endmacro %}

{% macro record_parts(inputs) -%}
    insert into temp.built_parts by name
    select
        '{{ this.identifier }}' as model,
        part,
        inputs,
        getvariable('definitions') as definitions
    from {{ inputs }}
    where part in (select part from temp.stale_parts)
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
