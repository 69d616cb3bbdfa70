{{ config(materialized='view') }}

with

collections as (
    select * from {{ ref('stg_collections') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

rankings as (
    select
        collection,
        {{ hash_of_rows('system, query_id, passage_id, rank') }} as entries_hash
    from ranked_entries
    group by collection
),

-- a system without any ranked entry scores 0 all the same
names as (
    select
        collection,
        {{ hash_of_rows('system') }} as systems_hash
    from systems
    group by collection
)

select
    collections.collection,
    hash(
        rankings.entries_hash,
        names.systems_hash,
        (select {{ hash_of_rows('grid.measure') }} from grid),
        (select {{ hash_of_rows('levels.level') }} from levels)
    ) as rankings_hash
from collections
left join rankings using (collection)
left join names using (collection)
