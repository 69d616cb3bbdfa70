select
    submission_id,
    grader_id,
    collection,
    base_url,
    provider_id,
    n_pairs,
    n_prompts,
    reserved,
    state,
    reason,
    began_at,
    finished_at
from {{ source('raw', 'submissions') }}
