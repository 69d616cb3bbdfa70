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
    settings,
    json_extract_string(settings, '$.items') as items,
    json_extract_string(settings, '$.answers_from') as answers_from,
    parser,
    target,
    prompt_text,
    label_rubric_id,
    created_at
from {{ source('raw', 'graders') }}
