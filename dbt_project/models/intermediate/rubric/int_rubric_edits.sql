with

-- what each edit left behind: of a rewording the new item, not the old one
edited_items as (
    select
        *,
        coalesce(previous_item_id, item_id) as edited_item_id
    from {{ ref('int_rubric_states') }}
    where
        action is not null
        and (action != 'reword' or previous_item_id is not null)
)

select
    edits.rubric_version,
    edits.collection,
    edits.bank,
    edits.item_id,
    edits.action,
    edited_items.query_id,
    edited_items.facet_id,
    edited_items.kind,
    edited_items.item_text,
    edited_items.gold_answers,
    edited_items.weight,
    case when edits.action in ('reword', 'add') then edited_items.item_id end as new_item_id,
    edits.editor,
    edits.reason
from {{ ref('int_numbered_edits') }} as edits
inner join edited_items using (collection, rubric_version, bank, action)
where
    edits.item_id = edited_items.edited_item_id
    and edited_items.query_id = coalesce(edits.query_id, edited_items.query_id)
