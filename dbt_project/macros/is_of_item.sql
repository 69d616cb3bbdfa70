{# Whether a grade is of an item: of the same grader, query and item, and, where the grader compares
   with gold answers, of those that this version gives the item. Columns of `grades` and `items`. #}
{% macro is_of_item(grades, items) -%}
    {{ grades }}.collection = {{ items }}.collection
    and {{ grades }}.grader_id = {{ items }}.grader_id
    and {{ grades }}.query_id = {{ items }}.query_id
    and {{ grades }}.item_id = {{ items }}.item_id
    and {{ grades }}.gold_sha256 is not distinct from {{ items }}.gold_sha256
{%- endmacro %}
