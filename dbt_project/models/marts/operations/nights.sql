{{ config(materialized='view') }}

with

runs as (
    select * from {{ ref('stg_pipeline_runs') }}
)

select
    json_extract_string(counts, '$.night') as night,
    run_id,
    state,
    json_extract_string(counts, '$.release') as release,
    started_at,
    finished_at,
    round(epoch(finished_at) - epoch(started_at), 1) as seconds,
    coalesce(cast(json_extract(counts, '$.files_accepted') as bigint), 0) as files_accepted,
    coalesce(cast(json_extract(counts, '$.files_quarantined') as bigint), 0) as files_quarantined,
    coalesce(cast(json_extract(counts, '$.files_waiting') as bigint), 0) as files_waiting,
    coalesce(cast(json_extract(counts, '$.inputs_rejected') as bigint), 0) as inputs_rejected,
    coalesce(cast(json_extract(counts, '$.pairs') as bigint), 0) as pairs_graded,
    coalesce(cast(json_extract(counts, '$.pairs_failed') as bigint), 0) as pairs_failed,
    coalesce(cast(json_extract(counts, '$.pairs_left') as bigint), 0) as pairs_left,
    coalesce(cast(json_extract(counts, '$.tokens') as bigint), 0) as tokens,
    coalesce(cast(json_extract(counts, '$.leaderboards_moved') as bigint), 0) as leaderboards_moved,
    coalesce(cast(json_extract(counts, '$.steps_failed') as bigint), 0) as steps_failed,
    error
from runs
where command = 'nightly'
order by
    started_at desc,
    run_id asc
