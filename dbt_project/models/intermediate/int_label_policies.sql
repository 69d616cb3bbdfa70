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
    {{ mapping_as_map('mapping') }} as mapping
from policies
