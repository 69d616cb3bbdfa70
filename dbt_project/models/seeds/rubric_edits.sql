-- Every row of seeds/rubric_edits.csv that cannot be applied, and why.
with recursive

numbered as (
    select
        *,
        row_number() over () as row_number
    from {{ file_rows() }}
),

read_edits as (
    select
        row_number,
        rubric_version as stated_version,
        weight as stated_weight,
        {{ cells_of_an_edit() }}
    from numbered
),

edits as (
    select
        *,
        case
            when action = 'add' then {{ item_id('query_id', 'facet_id', 'item_text') }}
            else item_id
        end as edited_item_id
    from read_edits
),

ingested_items as (
    select * from {{ ref('int_ingested_items') }}
),

queries as (
    select * from {{ ref('int_query_texts') }}
),

collections as (
    select distinct collection
    from queries
),

banks as (
    select distinct
        collection,
        bank
    from ingested_items
),

-- those of topics, and those that banks alone name
known_facets as (
    select
        collection,
        query_id,
        facet_id
    from {{ source('raw', 'facets') }}
    union
    select
        collection,
        query_id,
        facet_id
    from ingested_items
),

-- every item that ever was: ingested, added, or made by rewording one of these
known_items as (
    select
        collection,
        bank,
        query_id,
        facet_id,
        item_id,
        starts_with(kind, 'criterion') as is_criterion
    from ingested_items
    union
    select
        collection,
        bank,
        query_id,
        coalesce(facet_id, '') as facet_id,
        edited_item_id as item_id,
        starts_with(kind, 'criterion') as is_criterion
    from edits
    where action = 'add'
    union
    select
        known_items.collection,
        known_items.bank,
        known_items.query_id,
        known_items.facet_id,
        {{ item_id('known_items.query_id', 'known_items.facet_id', 'edits.item_text') }} as item_id,
        known_items.is_criterion
    from known_items
    inner join edits using (collection, bank, item_id)
    where
        known_items.query_id = coalesce(edits.query_id, known_items.query_id)
        and edits.action = 'reword'
        and edits.item_text is not null
),

-- the items that a row edits: one, unless several queries have the id and the row names none
edited_items as (
    select distinct
        edits.row_number,
        edits.rubric_version,
        edits.action,
        edits.item_text,
        known_items.* exclude (is_criterion),
        bool_or(known_items.is_criterion) over (partition by edits.row_number) as is_criterion
    from edits
    inner join known_items
        on
            edits.collection = known_items.collection
            and edits.bank = known_items.bank
            and edits.edited_item_id = known_items.item_id
            and known_items.query_id = coalesce(edits.query_id, known_items.query_id)
            and (edits.action != 'add' or known_items.facet_id = coalesce(edits.facet_id, ''))
),

made_items as (
    select
        * replace (
            {{ item_id('query_id', 'facet_id', 'item_text') }} as item_id
        )
    from edited_items
    where
        action = 'reword'
        and item_text is not null
),

touched_items as (
    select
        *,
        action in ('add', 'restore', 'reweight', 'reanswer') as is_in_force
    from edited_items
    union all
    select
        *,
        true as is_in_force
    from made_items
),

-- when items come into force and leave it
events as (
    select
        collection,
        bank,
        query_id,
        facet_id,
        item_id,
        0 as rubric_version,
        true as is_in_force
    from ingested_items
    union all
    select
        collection,
        bank,
        query_id,
        facet_id,
        item_id,
        rubric_version,
        is_in_force
    from touched_items
),

-- how each of them stood in the version before
former_states as (
    select
        touched.row_number,
        touched.action = 'reword' and touched.is_in_force as is_made,
        touched.item_id,
        any_value(touched.is_criterion) as is_criterion,
        max(events.rubric_version) is not null as is_known,
        coalesce(arg_max(events.is_in_force, events.rubric_version), false) as was_in_force
    from touched_items as touched
    left join events
        on
            touched.collection = events.collection
            and touched.bank = events.bank
            and touched.query_id = events.query_id
            and touched.facet_id = events.facet_id
            and touched.item_id = events.item_id
            and touched.rubric_version > events.rubric_version
    group by touched.row_number, is_made, touched.query_id, touched.facet_id, touched.item_id
),

named as (
    select
        row_number,
        bool_or(is_known) as is_known,
        bool_or(is_criterion) as is_criterion,
        bool_and(was_in_force) as was_in_force
    from former_states
    where not is_made
    group by row_number
),

reworded as (
    select
        row_number,
        any_value(item_id) as new_item_id,
        bool_or(was_in_force) as was_in_force
    from former_states
    where is_made
    group by row_number
),

repeated as (
    select
        later.row_number,
        min(earlier.row_number) as first_row
    from touched_items as later
    inner join touched_items as earlier
        using (collection, bank, query_id, facet_id, item_id, rubric_version)
    where later.row_number > earlier.row_number
    group by later.row_number
),

checked as (
    select
        edits.*,
        case
            when edits.rubric_version is null or edits.rubric_version < 1
                then
                    'rubric_version must be a whole number, 1 or more, and is '
                    || coalesce('''' || edits.stated_version || '''', 'empty')
            when
                edits.action is null
                or edits.action
                not in ('drop', 'reword', 'add', 'reweight', 'reanswer', 'restore')
                then
                    'action must be drop, reword, add, reweight, reanswer or restore, and is '
                    || coalesce('''' || edits.action || '''', 'empty')
            when collections.collection is null
                then
                    'the lake has no collection '
                    || coalesce('''' || edits.collection || '''', '(the cell is empty)')
            when banks.bank is null
                then
                    edits.collection || ' has no bank '
                    || coalesce('''' || edits.bank || '''', '(the cell is empty)')
                    || '; gradelake import bank brings one in'
            when edits.stated_weight is not null and edits.weight is null
                then 'weight ''' || edits.stated_weight || ''' is not a number'
            when not isfinite(edits.weight) then 'weight must be finite'
            when edits.weight < 0 and not named.is_criterion
                then 'weight ' || edits.stated_weight || ' is negative'
            when edits.action = 'reweight' and edits.weight is null and edits.kind is null
                then 'a reweight needs a weight'
            when edits.action = 'reanswer' and edits.gold_answers is null
                then 'a reanswer needs a gold_answer'
            when edits.action in ('reword', 'add') and edits.item_text is null
                then 'its text is empty'
            when edits.action not in ('reword', 'add') and edits.item_text is not null
                then 'a text belongs to reword and add, not to ' || edits.action
            when
                edits.action not in ('reword', 'add', 'reanswer')
                and edits.gold_answers is not null
                then 'a gold_answer belongs to reword, add and reanswer, not to ' || edits.action
            when edits.action = 'add' and edits.query_id is null then 'an add needs a query_id'
            when edits.query_id is not null and queries.query_id is null
                then edits.collection || ' has no query ''' || edits.query_id || ''''
            when edits.facet_id is not null and edits.action != 'add'
                then 'facet_id belongs to add, not to ' || edits.action
            when edits.facet_id is not null and known_facets.facet_id is null
                then 'query ' || edits.query_id || ' has no facet ''' || edits.facet_id || ''''
            when
                (edits.action = 'add' or starts_with(edits.kind, 'criterion'))
                and not regexp_full_match(
                    coalesce(edits.kind, ''),  -- as sql/common/rubric_items.py has it
                    'question|nugget|criterion:(mandatory|optional):[a-z][a-z0-9_-]*'
                )
                then 'kind must be question, nugget or like criterion:mandatory:explicit'
            when starts_with(edits.kind, 'criterion') and not named.is_criterion
                then 'the item is no criterion'
            when edits.action != 'add' and edits.item_id is null then 'it names no item'
            when edits.action != 'add' and not coalesce(named.is_known, false)
                then
                    'bank ' || edits.bank || ' has no item ''' || edits.item_id || ''''
                    || coalesce(' for query ''' || edits.query_id || '''', '')
            when repeated.first_row is not null
                then
                    'the item is edited twice in this version (see row '
                    || repeated.first_row || ')'
            when
                edits.action in ('drop', 'reword', 'reweight', 'reanswer')
                and not named.was_in_force
                then 'the item was dropped or reworded before: restore it first'
            when edits.action = 'restore' and named.was_in_force
                then 'the item is in force: there is nothing to restore'
            when edits.action = 'reword' and reworded.new_item_id = edits.item_id
                then 'its text is the one the item has'
            when (edits.action = 'add' and named.was_in_force) or reworded.was_in_force
                then 'the query has an item with this text already'
        end as problem
    from edits
    left join collections using (collection)
    left join banks using (collection, bank)
    left join queries using (collection, query_id)
    left join known_facets using (collection, query_id, facet_id)
    left join named using (row_number)
    left join reworded using (row_number)
    left join repeated using (row_number)
)

select
    'row ' || row_number
    || coalesce(' (' || action || coalesce(' ' || edited_item_id, '') || ')', '') as bad_row,
    problem
from checked
where problem is not null
order by row_number
