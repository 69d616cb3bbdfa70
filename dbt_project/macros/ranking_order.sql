{# The order of a ranking, best first, as in trec_eval: score as a 32-bit float, then passage id
   bytewise, both descending. #}
{% macro ranking_order() -%}
    ranking_score desc, passage_id desc
{%- endmacro %}
