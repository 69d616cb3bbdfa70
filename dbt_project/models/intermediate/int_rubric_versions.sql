{{ config(materialized='view') }}

with

versions as (
    select distinct
        collection,
        rubric_version
    from {{ ref('stg_rubric_edits') }}
)

select
    collection,
    rubric_version,
    lag(rubric_version, 1, 0) over (
        partition by collection
        order by rubric_version
    ) as previous_version
from versions
