{# A table that is kept part by part, whatever else changed: the model `inputs` lists the parts that
   there should be, each with a hash of all that it is computed from (`part`), and every row of the
   table says which part it belongs to. A build computes the parts that the table lacks, and
   removes those that are no longer listed. So what is computed for one version of a rubric serves
   every version that has the same items for the query.

   A run of dbt alone computes all: only `gradelake build` knows that no model's code changed. #}

{% materialization parts, adapter='duckdb' %}
    {%- set inputs = ref(config.require('inputs')) -%}
    {%- set whole = (
        load_cached_relation(this) is none
        or should_full_refresh()
        or dbt_commits()
    ) -%}
    {% do run_query(current_parts_table(inputs)) %}
    {% do run_query(stale_parts_table(whole)) %}
    {% if whole %}
        {{ return(replace_relation('table', sql)) }}
    {% endif %}
    {% call statement('delete') -%}
        delete from {{ this }}
        where part not in (select current_parts.part from temp.current_parts)
    {%- endcall %}
    {% call statement('main') -%}
        insert into {{ this }} by name
        {{ sql }}
    {%- endcall %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{% macro current_parts_table(inputs) -%}
    create or replace temp table current_parts as
    select * from {{ inputs }}
{%- endmacro %}

{% macro stale_parts_table(whole) -%}
    create or replace temp table stale_parts as
    select * from temp.current_parts
    {% if not whole -%}
        where part not in (select kept.part from {{ this }} as kept)
    {%- endif %}
{%- endmacro %}

{# In a model: the rows of `inputs` whose parts it has to compute in this build. A unit test
   computes all. #}
{% macro stale_parts(inputs) -%}
    {%- set relation = ref(inputs) -%}
    {%- if model is defined and model.resource_type == 'model' -%}
        temp.stale_parts
    {%- else -%}
        {{ relation }}
    {%- endif -%}
{%- endmacro %}
