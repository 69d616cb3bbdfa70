{# Generic data test: every measure is a share; criteria may count against an answer. `but`: which
   rows have scales of their own. #}
{% test value_between_0_and_1(model, but='false') %}
    select *
    from {{ model }}
    where
        not ({{ but }})
        and (value > 1 or (value < 0 and not starts_with(measure, 'Criteria')))
{% endtest %}
