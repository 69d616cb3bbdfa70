select
    batch_id,
    grader_id,
    collection,
    planned,
    ok,
    unanswerable,
    defaulted,
    failed,
    reused,
    tokens,
    cached_tokens,
    wall_seconds,
    started_at,
    finished_at,
    state,
    notes
from {{ source('raw', 'grading_batches') }}
