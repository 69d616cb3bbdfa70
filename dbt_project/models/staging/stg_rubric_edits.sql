with

edits as (
    select {{ cells_of_an_edit() }}
    from {{ ref('rubric_edits') }}
)

select
    rubric_version,
    dense_rank() over (
        partition by collection
        order by rubric_version
    ) as nth_version,
    collection,
    bank,
    case
        when action = 'add' then {{ item_id('query_id', 'facet_id', 'item_text') }}
        else item_id
    end as item_id,
    action,
    query_id,
    kind,
    item_text,
    gold_answers,
    weight,
    editor,
    reason,
    facet_id
from edits
