select
    json_extract_string(counts, '$.night') as night,
    run_id,
    state,
    json_extract_string(counts, '$.release') as release,
    started_at,
    finished_at,
    round(epoch(finished_at) - epoch(started_at), 1) as seconds,
    cast(json_extract(counts, '$.files_accepted') as bigint) as files_accepted,
    cast(json_extract(counts, '$.files_quarantined') as bigint) as files_quarantined,
    cast(json_extract(counts, '$.files_waiting') as bigint) as files_waiting,
    cast(json_extract(counts, '$.inputs_rejected') as bigint) as inputs_rejected,
    cast(json_extract(counts, '$.pairs') as bigint) as pairs_graded,
    cast(json_extract(counts, '$.pairs_failed') as bigint) as pairs_failed,
    cast(json_extract(counts, '$.pairs_left') as bigint) as pairs_left,
    cast(json_extract(counts, '$.tokens') as bigint) as tokens,
    cast(json_extract(counts, '$.leaderboards_moved') as bigint) as leaderboards_moved,
    cast(json_extract(counts, '$.steps_failed') as bigint) as steps_failed,
    error
from {{ source('raw', 'pipeline_runs') }}
where command = 'nightly'
order by
    started_at desc,
    run_id asc
