{{ config(materialized='view') }}

with

rubrics as (
    select * from {{ ref('int_distinct_rubrics') }}
),

rankings as (
    select * from {{ ref('int_ranking_inputs') }}
)

select
    hash(rubrics.part, rankings.ranking_hash) as part,
    rubrics.part as variant,
    rubrics.collection,
    rubrics.grader_id,
    rubrics.rubric_version,
    rubrics.query_id,
    rankings.system
from rubrics
inner join rankings using (collection, query_id)
