{# bpref: how seldom a passage judged non-relevant is above a relevant one; passages without a
   label play no part (Buckley and Voorhees 2004, as trec_eval 9 corrected it). The nth relevant
   passage is the place-th labelled one. #}
{% macro bpref() -%}
    list_sum([
        1 - least(place - nth, n_relevant) / greatest(least(n_nonrelevant, n_relevant), 1)
        for place, nth in places
    ]) / n_relevant
{%- endmacro %}
