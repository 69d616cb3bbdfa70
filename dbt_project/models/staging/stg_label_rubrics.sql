select
    rubric_id,
    name as rubric,
    collection,
    assessor,
    grader_id,
    engine,
    model,
    distil_prompt,
    distil_prompt_sha256,
    seed,
    iteration,
    label,
    text as rubric_text,
    n_explanations,
    created_at
from {{ source('raw', 'label_rubrics') }}
