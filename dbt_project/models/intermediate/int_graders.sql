{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('stg_graders') }}
),

numbered_graders as (
    select
        *,
        row_number() over (
            partition by grader
            order by created_at desc, grader_id desc
        ) as nth_newest
    from graders
)

select
    grader_id,
    case nth_newest
        when 1 then grader
        else grader || '@' || left(grader_id, 6)
    end as grader,
    grader as name,
    engine,
    model,
    target,
    scale_min,
    scale_max,
    created_at
from numbered_graders
