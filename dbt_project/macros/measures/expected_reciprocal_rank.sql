{# ERR: 1 / the rank at which somebody stops whom a passage satisfies with the probability
   (2^label - 1) / 2^top_label, if none above it did (Chapelle et al. 2009), as gdeval has it. #}
{% macro expected_reciprocal_rank() -%}
    list_sum([
        (2 ** hit.label - 1) / 2 ** top_label / hit.rank
        * coalesce(list_product([
            1 - (2 ** greatest(above.label, 0) - 1) / 2 ** top_label for above in hits[1:nth - 1]
        ]), 1)
        for hit, nth in hits[1:k] if hit.rank <= k and hit.label > 0
    ])
{%- endmacro %}
