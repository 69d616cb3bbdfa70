{# The cells of a row of seeds/rubric_edits.csv, stripped and read: a list of columns. #}
{% macro cells_of_an_edit() -%}
    -- a cast alone would make 2 of 1.6
    case
        when regexp_full_match({{ stripped('rubric_version') }}, '\d+')
            then try_cast(rubric_version as integer)
    end as rubric_version,
    {{ stripped('collection') }} as collection,
    {{ stripped('bank') }} as bank,
    nullif({{ stripped('item_id') }}, '') as item_id,
    lower({{ stripped('action') }}) as action,
    nullif({{ stripped('query_id') }}, '') as query_id,
    nullif(lower({{ stripped('kind') }}), '') as kind,
    nullif({{ stripped('text') }}, '') as item_text,
    -- `\\` and `\|` of a cell are set aside while it is taken apart at the other bars
    nullif([
        replace(replace({{ stripped('answer') }}, chr(2), '|'), chr(1), '\')
        for answer in string_split(
            replace(replace(gold_answer, '\\', chr(1)), '\|', chr(2)), '|'
        )
        if {{ stripped('answer') }} != ''
    ], []) as gold_answers,
    try_cast(weight as double) as weight,
    editor,
    reason,
    nullif({{ stripped('facet_id') }}, '') as facet_id
{%- endmacro %}
