select
    grader_id,
    collection,
    query_id,
    passage_id,
    item_id,
    grade,
    status,
    answer,
    response,
    expected_grade,
    prompt_tokens,
    cached_tokens,
    completion_tokens,
    batch_id,
    graded_at
from {{ source('raw', 'grades') }}
