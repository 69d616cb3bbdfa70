-- The items of a version of the rubric, a row per query that has any
with

-- an item may be of several facets, and of several banks
items as (
    select
        query_id,
        item_id,
        any_value(text) as item_text,
        arg_min(place, (bank, place)) as place,
        min(bank) as bank,
        string_agg(distinct facet_id, ', ' order by facet_id) filter (where facet_id != '')
            as facet_id
    from lake.marts.rubric_items_effective
    where
        collection = $collection
        and rubric_version = $rubric_version
    group by all
)

select
    query_id,
    list(
        struct_pack(item_id := item_id, item_text := item_text, facet_id := facet_id)
        order by bank, place nulls last, item_id
    ) as items
from items
group by query_id
order by query_id
