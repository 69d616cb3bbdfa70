select
    grader_id,
    name as grader,
    engine,
    model,
    prompt,
    scale_min,
    scale_max,
    json_extract_string(settings, '$.items') as items,
    json_extract_string(settings, '$.answers_from') as answers_from,
    cast(coalesce(json_extract_string(settings, '$.trial'), '1') as integer) as trial,
    coalesce(json_extract_string(settings, '$.trial_of'), grader_id) as trial_of,
    parser,
    coalesce(contains(prompt_text, '{rubric}'), false) as shows_rubric,
    target,
    label_rubric_id,
    created_at
from {{ source('raw', 'graders') }}
