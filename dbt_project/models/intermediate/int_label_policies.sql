{{ config(materialized='view') }}

with

policies as (
    select * from {{ ref('label_policies') }}
)

select
    policy,
    rule,
    m,
    tau,
    case
        when mapping is not null
            then map_from_entries([
                (
                    cast(split_part(pair, ':', 1) as integer),
                    cast(split_part(pair, ':', 2) as integer)
                )
                for pair in regexp_split_to_array(trim(mapping), ' +')
            ])
    end as mapping
from policies
