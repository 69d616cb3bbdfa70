select
    collection,
    queue,
    grader_id,
    source,
    tau,
    overlap,
    seed,
    made_at
from {{ source('raw', 'review_queues') }}
