{# A table that `gradelake build` keeps part by part (sql/build/runner.py). dbt by itself computes
   all: it does not know that no model's code changed. #}

{% materialization parts, adapter='duckdb' %}
    {{ return(replace_relation('table', sql)) }}
{% endmaterialization %}
