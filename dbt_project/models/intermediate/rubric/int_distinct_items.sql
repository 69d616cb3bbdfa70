with

-- an item that several banks have counts once, with the greatest of its weights; a criterion's
-- kind is `criterion:TIER:TYPE`
items as (
    select
        collection,
        rubric_version,
        split_part(kind, ':', 1) as kind,
        query_id,
        item_id,
        min(item_text) as item_text,
        first(gold_answers order by bank) filter (where len(gold_answers) > 0) as gold_answers,
        max(weight) as weight,
        min(nullif(split_part(kind, ':', 2), '')) as tier,
        min(nullif(split_part(kind, ':', 3), '')) as criterion_type,
        list_sort(list_distinct(list(nullif(facet_id, '')))) as facet_ids,
        arg_min(place, (bank, place)) as place_in_bank,
        min(bank) as first_bank
    from {{ ref('int_rubric_items') }}
    group by all
)

select
    * exclude (place_in_bank, first_bank),
    row_number() over (
        partition by collection, rubric_version, query_id
        order by first_bank, place_in_bank nulls last, item_id
    ) as place,
    -- their order means nothing
    sha256(cast(to_json(list_sort(gold_answers)) as varchar)) as gold_sha256
from items
