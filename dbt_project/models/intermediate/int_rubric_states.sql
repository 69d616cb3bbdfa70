{{ config(materialized='view') }}

-- A step per version: each starts from the items of the version before and applies its edits.
with recursive

edits as (
    select * from {{ ref('stg_rubric_edits') }}
),

states as (
    select
        collection,
        cast(0 as bigint) as nth_version,
        0 as rubric_version,
        bank,
        query_id,
        facet_id,
        item_id,
        kind,
        item_text,
        gold_answers,
        weight,
        origin,
        item_id as origin_item_id,
        true as is_in_force,
        cast(null as varchar) as action,
        cast(null as varchar) as previous_item_id
    from {{ ref('int_ingested_items') }}
    union all
    (
        with

        versions as (
            select distinct
                edits.collection,
                edits.nth_version,
                edits.rubric_version
            from edits
            inner join states
                on
                    edits.collection = states.collection
                    and edits.nth_version = states.nth_version + 1
        ),

        -- every item of the version before, in force or not, beside the edit that names it
        carried as (
            select
                states.*,
                versions.nth_version as next_nth,
                versions.rubric_version as next_version,
                edits.action as edit_action,
                edits.item_text as new_text,
                coalesce(edits.gold_answers, states.gold_answers) as new_gold_answers,
                coalesce(edits.weight, states.weight) as new_weight
            from states
            inner join versions
                on
                    states.collection = versions.collection
                    and states.nth_version + 1 = versions.nth_version
            left join edits
                on
                    states.collection = edits.collection
                    and states.nth_version + 1 = edits.nth_version
                    and states.bank = edits.bank
                    and states.item_id = edits.item_id
                    and states.query_id = coalesce(edits.query_id, states.query_id)
                    and edits.action != 'add'
        ),

        -- a new text is a new item: its grades are its own
        reworded as (
            select
                collection,
                next_nth as nth_version,
                next_version as rubric_version,
                bank,
                query_id,
                facet_id,
                {{ item_id('query_id', 'facet_id', 'new_text') }} as item_id,
                kind,
                new_text as item_text,
                new_gold_answers as gold_answers,
                new_weight as weight,
                'manual' as origin,
                origin_item_id,
                true as is_in_force,
                edit_action as action,
                item_id as previous_item_id
            from carried
            where edit_action = 'reword'
        ),

        added as (
            select
                edits.collection,
                edits.nth_version,
                edits.rubric_version,
                edits.bank,
                edits.query_id,
                '' as facet_id,
                edits.item_id,
                edits.kind,
                edits.item_text,
                edits.gold_answers,
                coalesce(edits.weight, 1) as weight,
                'manual' as origin,
                edits.item_id as origin_item_id,
                true as is_in_force,
                edits.action,
                null as previous_item_id
            from edits
            semi join versions
                on
                    edits.collection = versions.collection
                    and edits.nth_version = versions.nth_version
            where edits.action = 'add'
        ),

        made as (
            select * from reworded
            union all
            select * from added
        ),

        kept as (
            select
                carried.collection,
                carried.next_nth as nth_version,
                carried.next_version as rubric_version,
                carried.bank,
                carried.query_id,
                carried.facet_id,
                carried.item_id,
                carried.kind,
                carried.item_text,
                case
                    when carried.edit_action = 'reword' then carried.gold_answers
                    else carried.new_gold_answers
                end as gold_answers,
                case
                    when carried.edit_action = 'reword' then carried.weight
                    else carried.new_weight
                end as weight,
                carried.origin,
                carried.origin_item_id,
                case
                    when carried.edit_action in ('drop', 'reword') then false
                    when carried.edit_action = 'restore' then true
                    else carried.is_in_force
                end as is_in_force,
                carried.edit_action as action,
                null as previous_item_id
            from carried
            -- an item that was dropped or reworded away, and is made again
            anti join made
                on
                    carried.collection = made.collection
                    and carried.bank = made.bank
                    and carried.query_id = made.query_id
                    and carried.facet_id = made.facet_id
                    and carried.item_id = made.item_id
        )

        select * from kept
        union all
        select * from made
    )
)

select
    collection,
    rubric_version,
    bank,
    query_id,
    facet_id,
    item_id,
    kind,
    item_text,
    gold_answers,
    weight,
    origin,
    origin_item_id,
    is_in_force,
    action,
    previous_item_id
from states
