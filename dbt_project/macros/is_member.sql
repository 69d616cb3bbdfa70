{# Whether a grader is what a row of ensembles.csv names: by its name, or as a trial of NAME.all. #}
{% macro is_member(member, grader, first_trial) -%}
    {{ member }} in ({{ grader }}, {{ first_trial }} || '.all')
{%- endmacro %}
