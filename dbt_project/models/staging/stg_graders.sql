select
    grader_id,
    name as grader,
    engine,
    model,
    model_revision,
    prompt,
    prompt_sha256,
    scale_min,
    scale_max,
    decoding,
    parser,
    target,
    prompt_text,
    label_rubric_id,
    created_at
from {{ source('raw', 'graders') }}
