{# One number for a set of rows, whatever their order; it changes when any of them does. Hashed
   twice, because hash(a, b) is linear in its last column: rows that trade values of it would go
   unseen. #}
{% macro hash_of_rows(columns) -%}
    bit_xor(hash(hash({{ columns }})))
{%- endmacro %}
