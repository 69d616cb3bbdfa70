-- Who edited the rubric, and when was each edit in force?
-- :collection
-- :rubric_version = any        a version of the rubric
-- :query_id
with

-- an edit names its item; the query may be left out
items as (
    select
        collection,
        bank,
        item_id,
        min(query_id) as query_id
    from marts.rubric_items_effective
    group by all
)

select
    history.collection,
    history.rubric_version,
    coalesce(history.query_id, items.query_id) as query_id,
    history.bank,
    history.action,
    history.item_text as text,
    history.weight,
    history.editor,
    history.reason,
    date_trunc('second', history.dbt_valid_from) as valid_from,
    date_trunc('second', history.dbt_valid_to) as valid_to,
    history.item_id
from intermediate.rubric_history as history
left join items using (collection, bank, item_id)
where
    history.dbt_is_deleted = 'False'
    and $asked_of_history
    and ($rubric_version is null or cast(history.rubric_version as varchar) = $rubric_version)
    and ($query_id is null or coalesce(history.query_id, items.query_id) = $query_id)
order by
    history.collection asc,
    history.rubric_version asc,
    history.dbt_valid_from asc,
    history.bank asc,
    history.item_id asc
