-- The edits of each version of the rubric, with the item as it was and as it became
select
    versions.rubric_version,
    versions.previous_version,
    edits.query_id,
    edits.bank,
    edits.action as change,
    states.item_text as old_text,
    case when edits.action != 'drop' then edits.item_text end as new_text,
    states.weight as old_weight,
    edits.weight as new_weight,
    states.gold_answers as old_gold_answers,
    edits.gold_answers as new_gold_answers,
    edits.editor,
    edits.reason
from lake.intermediate.int_rubric_edits as edits
inner join lake.intermediate.int_rubric_versions as versions using (collection, rubric_version)
left join lake.intermediate.int_rubric_states as states
    on
        edits.collection = states.collection
        and versions.previous_version = states.rubric_version
        and edits.bank = states.bank
        and edits.query_id = states.query_id
        and edits.item_id = states.item_id
        -- an item that is added or restored was not in force
        and states.is_in_force
where edits.collection = $collection
order by
    versions.rubric_version desc,
    edits.query_id asc,
    edits.bank asc,
    edits.action asc,
    edits.item_id asc
