with

grades as (
    select * from {{ ref('int_grades_in_force') }}
    union all by name
    select * from {{ ref('int_ensemble_grades') }}
)

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
    run_id,
    graded_at,
    passage_sha256,
    query_sha256,
    scale_mass,
    cut_characters,
    error,
    gold_sha256
from grades
