select
    collection,
    queue,
    grader_id,
    source,
    tau,
    overlap,
    seed,
    made_at,
    label_set
from {{ source('raw', 'review_queues') }}
