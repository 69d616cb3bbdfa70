{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

batches as (
    select
        *,
        ok + unanswerable + defaulted + failed as pairs
    from {{ source('raw', 'grading_batches') }}
)

select
    batches.collection,
    graders.grader,
    batches.batch_id,
    batches.state,
    batches.planned,
    batches.ok,
    batches.unanswerable,
    batches.defaulted,
    batches.failed,
    batches.reused,
    batches.tokens,
    batches.cached_tokens,
    batches.wall_seconds,
    round(batches.pairs / nullif(batches.wall_seconds, 0), 4) as pairs_per_second,
    round(batches.tokens / nullif(batches.pairs, 0), 4) as tokens_per_pair,
    round(batches.cached_tokens / nullif(batches.tokens, 0), 4) as share_cached,
    batches.started_at,
    batches.finished_at
from batches
inner join graders using (grader_id)
order by
    batches.started_at desc,
    batches.batch_id asc
