select
    rubric_id,
    collection,
    query_id,
    passage_id,
    label,
    explanation
from {{ source('raw', 'label_rubric_pairs') }}
