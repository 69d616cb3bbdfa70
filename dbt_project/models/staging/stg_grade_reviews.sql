select
    grader_id,
    collection,
    query_id,
    passage_id,
    item_id,
    passage_sha256,
    query_sha256,
    assessor,
    grade,
    verdict,
    own_grade,
    note,
    blind_grade,
    seconds,
    settles,
    reviewed_at
from {{ source('raw', 'grade_reviews') }}
