select
    run_id,
    command,
    arguments,
    state,
    counts,
    error,
    started_at,
    finished_at
from {{ source('raw', 'pipeline_runs') }}
