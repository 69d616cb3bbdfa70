-- Several kinds of judgment may ask about the same items: of passages, and of whole answers.
select
    items.*,
    kinds.kind as asks_about
from {{ ref('int_distinct_items') }} as items
inner join {{ ref('judgment_kinds') }} as kinds on items.kind = kinds.item_kind
left join {{ source('raw', 'queries') }} as queries
    on items.collection = queries.collection and items.query_id = queries.query_id
where kinds.only_with is null or (kinds.only_with = 'narrative' and queries.narrative is not null)
