{# Generic data test: every measure is a share; criteria may count against an answer. #}
{% test value_between_0_and_1(model) %}
    select * from {{ model }} where value > 1 or (value < 0 and not starts_with(measure, 'Criteria'))
{% endtest %}
