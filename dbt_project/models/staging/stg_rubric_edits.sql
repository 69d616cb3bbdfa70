with

rubric_edits as (
    select
        *,
        row_number() over (order by rowid) as row_number,
        -- `\\` and `\|` of a cell, while it is taken apart at the other bars
        replace(replace(gold_answer, '\\', chr(1)), '\|', chr(2)) as gold_answer_cell
    from {{ ref('rubric_edits') }}
)

select
    row_number,
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
    [
        replace(replace({{ stripped('answer') }}, chr(2), '|'), chr(1), '\')
        for answer in string_split(gold_answer_cell, '|')
        if {{ stripped('answer') }} != ''
    ] as gold_answers,
    try_cast(weight as double) as weight,
    rubric_version as stated_version,
    weight as stated_weight,
    editor,
    reason
from rubric_edits
