{{ config(materialized='view') }}

with

rankings as (
    select
        collection,
        {{ hash_of_rows('system, query_id, passage_id, rank') }} as entries_hash
    from {{ ref('int_ranked_entries') }}
    group by collection
),

-- a system without any ranked entry scores 0 all the same
names as (
    select
        collection,
        {{ hash_of_rows('system') }} as systems_hash
    from {{ ref('stg_systems') }}
    group by collection
)

select
    collections.collection,
    hash(
        rankings.entries_hash,
        names.systems_hash,
        (select {{ hash_of_rows('measure') }} from {{ ref('int_measures') }}),
        (select {{ hash_of_rows('level') }} from {{ ref('evaluation_levels') }})
    ) as rankings_hash
from {{ ref('stg_collections') }} as collections
left join rankings using (collection)
left join names using (collection)
