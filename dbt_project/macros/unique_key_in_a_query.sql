{# Generic data test: these columns together identify a row. It looks at the first query only, for
   views that have a row per grade; its id is written out because only then is nothing else read. #}
{% test unique_key_in_a_query(model, columns) %}
{% set ask = "select min(query_id) from " ~ ref('stg_queries') %}
{% set first = run_query(ask).columns[0][0] if execute else none %}
    select
        {{ columns | join(', ') }},
        count(*) as n_rows
    from {{ model }}
    where query_id = '{{ (first or "") | replace("'", "''") }}'
    group by {{ columns | join(', ') }}
    having count(*) > 1
{% endtest %}
