{# ERR: 1 / the rank at which somebody stops who is satisfied by a passage with the probability
   (2^label - 1) / 2^top_label (Chapelle et al. 2009), as gdeval computes it. Of each passage: what it
   adds, and who goes on below it. #}
{% macro expected_reciprocal_rank() -%}
    list_reduce(
        [
            {
                'gain': (2 ** hit.label - 1) / 2 ** top_label / hit.rank,
                'left': 1 - (2 ** hit.label - 1) / 2 ** top_label
            } for hit in hits
            if hit.rank <= k and hit.label > 0
        ],
        lambda above, below: {
            'gain': above.gain + above.left * below.gain, 'left': above.left * below.left
        },
        {'gain': cast(0 as double), 'left': cast(1 as double)}
    ).gain
{%- endmacro %}
