{# A table that is kept part by part, whatever else changed: the model `inputs` lists the parts that
   there should be, each with a hash of all that it is computed from (`part`), and every row of the
   table says which part it belongs to. A build computes the parts that the table lacks, and
   removes those that are no longer listed. So what is computed for one version of a rubric serves
   every version that has the same items for the query.

   A run of dbt alone computes all: only `gradelake build` knows that no model's code changed. #}

{% materialization parts, adapter='duckdb' %}
    {%- set inputs = ref(config.require('inputs')) -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set whole = existing is none or should_full_refresh() or dbt_commits() -%}
    {%- set kept = none if whole else this -%}
    {% if kept and existing.type == 'view' %}
        {% do make_a_table_of(existing) %}
    {% endif %}
    {% do run_query(current_parts_table(inputs)) %}
    {% do run_query(waiting_parts_table(kept, config.get('in_order_of'))) %}
    {% if kept %}
        {% call statement('delete') -%}
            delete from {{ this }}
            where part not in (select current_parts.part from temp.current_parts)
        {%- endcall %}
    {% endif %}
    {%- set slices = run_query('select distinct slice from temp.waiting_parts order by slice') -%}
    {% for slice in slices.columns[0].values() or [0] %}
        {% do run_query(stale_parts_table(slice)) %}
        {% if whole and loop.first %}
            {% do replace_relation('table', sql) %}
        {% else %}
            {% call statement('main') -%}
                insert into {{ this }} by name
                {{ sql }}
            {%- endcall %}
        {% endif %}
    {% endfor %}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}

{# A preview reads the lake through views, and changes nothing there (sql/build/preview.py). #}
{% macro make_a_table_of(view) -%}
    {% call statement('copy') -%}
        create or replace temp table kept_parts as from {{ view }};
        drop view {{ view }};
        create table {{ view }} as from temp.kept_parts;
        drop table temp.kept_parts
    {%- endcall %}
{%- endmacro %}

{% macro current_parts_table(inputs) -%}
    create or replace temp table current_parts as
    select * from {{ inputs }}
{%- endmacro %}

{# What `kept` lacks. #}
{% macro waiting_parts_table(kept, in_order_of) -%}
    create or replace temp table waiting_parts as
    select
        *,
        {{ slice_of(in_order_of) }} as slice
    from temp.current_parts
    {% if kept -%}
        where part not in (select kept.part from {{ kept }} as kept)
    {%- endif %}
{%- endmacro %}

{# Parts are computed in slices that fit into memory, at 2 MB a part: some four times what the
   ranking of 1,000 passages takes, graded against 20 items. All at once without an order. #}
{% macro slice_of(in_order_of) -%}
    {%- if in_order_of -%}
        (row_number() over (order by {{ in_order_of }}, part) - 1)
        // greatest(100, parse_formatted_bytes(current_setting('memory_limit')) // 2000000)
    {%- else -%}
        0
    {%- endif -%}
{%- endmacro %}

{% macro stale_parts_table(slice) -%}
    create or replace temp table stale_parts as
    select * exclude (slice) from temp.waiting_parts
    where slice = {{ slice }}
{%- endmacro %}

{# In a model: the rows of `inputs` whose parts it has to compute in this build. A unit test
   computes all, and so does what only shows a model. #}
{% macro stale_parts(inputs) -%}
    {%- set relation = ref(inputs) -%}
    {%- set computes = model is defined and flags.WHICH in ('build', 'run') -%}
    {%- if computes and model.resource_type == 'model' -%}
        temp.stale_parts
    {%- else -%}
        {{ relation }}
    {%- endif -%}
{%- endmacro %}
