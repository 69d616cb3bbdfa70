{# RBP: somebody reads on after each passage with the probability p; the share of what is read that
   is relevant (Moffat and Zobel 2008). #}
{% macro rank_biased_precision() -%}
    (1 - p) * list_sum([p ** (rank - 1) for rank in {{ ranks_to('k') }}])
{%- endmacro %}
