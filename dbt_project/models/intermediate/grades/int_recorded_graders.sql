select
    grader_id,
    name as grader,
    engine,
    model,
    prompt,
    scale_min,
    scale_max,
    coalesce(json_extract_string(settings, '$.prefix'), '') as prefix,
    coalesce(
        json_extract_string(settings, '$.items'),
        -- what a file of the RUBRIC workbench says of its prompt
        json_extract_string(settings, '$.workbench.prompt_type')
    ) as items,
    json_extract_string(settings, '$.answers_from') as answers_from,
    cast(coalesce(json_extract_string(settings, '$.trial'), '1') as integer) as trial,
    coalesce(json_extract_string(settings, '$.trial_of'), grader_id) as trial_of,
    parser,
    -- somebody compared the answers with gold answers, so that right or wrong is their grade
    target = 'extract'
    and parser = 'published'
    and (
        contains(prompt, 'WithAnswerKey')
        or coalesce(
            json_extract_string(settings, '$.workbench.prompt_info.check_answer_key') = 'true',
            false
        )
    ) as is_verified,
    coalesce(contains(prompt_text, '{rubric}'), false) as shows_rubric,
    target,
    label_rubric_id,
    created_at
from {{ source('raw', 'graders') }}
