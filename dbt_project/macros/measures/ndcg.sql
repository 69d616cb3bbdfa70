{# nDCG: gain = label, or the fraction that was judged; discount log2(rank + 1), over that of the
   ideal ranking (Järvelin and Kekäläinen 2002). A label below 0 gains nothing. #}
{% macro ndcg(hits='hits') -%}
    list_sum([
        hit.gain / log2(hit.rank + 1) for hit in {{ hits }}[1:k]
        if hit.rank <= k and hit.gain > 0
    ]) / ideal_gain
{%- endmacro %}

{% macro ideal_dcg() -%}
    list_sum([gain / log2(nth + 1) for gain, nth in ideal_gains[1:k]])
{%- endmacro %}
