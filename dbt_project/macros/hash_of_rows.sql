{# One number for a set of rows, whatever their order; it changes when any of them does. Hashed
   twice, because hash(a, b) is linear in its last column: rows that trade values of it would go
   unseen. #}
{% macro hash_of_rows(columns) -%}
    bit_xor(hash(hash({{ columns }})))
{%- endmacro %}

{# What is computed, as one number: the measures and levels. #}
{% macro hash_of_what_is_computed() -%}
    hash(
        (select {{ hash_of_rows('grid.measure') }} from {{ ref('measures') }} as grid),
        (select {{ hash_of_rows('levels.level') }} from {{ ref('evaluation_levels') }} as levels)
    )
{%- endmacro %}
