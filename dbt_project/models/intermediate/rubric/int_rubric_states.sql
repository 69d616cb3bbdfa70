-- A step per version: each starts from the items of the version before and applies its edits.
with recursive

edits as (
    select * from {{ ref('int_numbered_edits') }}
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
        place,
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
                states.* replace (
                    versions.nth_version as nth_version,
                    versions.rubric_version as rubric_version,
                    edits.action as action,
                    cast(null as varchar) as previous_item_id
                ),
                edits.item_text as new_text,
                coalesce(edits.gold_answers, states.gold_answers) as new_gold_answers,
                coalesce(edits.weight, states.weight) as new_weight,
                -- a criterion's tier and type change; another kind never does
                if(starts_with(edits.kind, 'criterion:'), edits.kind, states.kind) as new_kind
            from states
            inner join versions
                on
                    states.collection = versions.collection
                    and states.nth_version + 1 = versions.nth_version
            left join edits
                on
                    versions.collection = edits.collection
                    and versions.nth_version = edits.nth_version
                    and states.bank = edits.bank
                    and states.item_id = edits.item_id
                    and states.query_id = coalesce(edits.query_id, states.query_id)
                    and edits.action != 'add'
        ),

        made as (
            -- a new text is a new item: its grades are its own
            select
                * exclude (new_text, new_gold_answers, new_weight, new_kind)
                replace (
                    {{ item_id('query_id', 'facet_id', 'new_text') }} as item_id,
                    new_text as item_text,
                    new_gold_answers as gold_answers,
                    new_weight as weight,
                    new_kind as kind,
                    'manual' as origin,
                    true as is_in_force,
                    item_id as previous_item_id
                )
            from carried
            where action = 'reword'
            union all
            select
                edits.collection,
                edits.nth_version,
                edits.rubric_version,
                edits.bank,
                edits.query_id,
                coalesce(edits.facet_id, '') as facet_id,
                edits.item_id,
                edits.kind,
                edits.item_text,
                edits.gold_answers,
                coalesce(edits.weight, 1) as weight,
                'manual' as origin,
                null as place,
                edits.item_id as origin_item_id,
                true as is_in_force,
                edits.action,
                null as previous_item_id
            from edits
            semi join versions using (collection, nth_version)
            where edits.action = 'add'
        ),

        kept as (
            select
                * exclude (new_text, new_gold_answers, new_weight, new_kind)
                replace (
                    if(action = 'reword', gold_answers, new_gold_answers) as gold_answers,
                    if(action = 'reword', weight, new_weight) as weight,
                    if(action = 'reword', kind, new_kind) as kind,
                    case
                        when action in ('drop', 'reword') then false
                        when action = 'restore' then true
                        else is_in_force
                    end as is_in_force
                )
            from carried
            -- an item that was dropped or reworded away, and is made again
            anti join made using (collection, bank, query_id, facet_id, item_id)
        )

        select * from kept
        union all
        select * from made
    )
)

select * exclude (nth_version)
from states
