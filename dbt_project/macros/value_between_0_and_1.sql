{# Generic data test: every measure is a share. #}
{% test value_between_0_and_1(model) %}
    select * from {{ model }} where value < 0 or value > 1
{% endtest %}
