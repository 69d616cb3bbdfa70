with

queries as (
    select
        collection,
        query_id,
        sha256(query_text) as query_sha256
    from {{ ref('stg_queries') }}
)

select
    grades.grader_id,
    grades.collection,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    grades.grade,
    grades.status,
    grades.answer,
    grades.response,
    grades.expected_grade,
    grades.prompt_tokens,
    grades.cached_tokens,
    grades.completion_tokens,
    grades.run_id,
    grades.graded_at,
    grades.passage_sha256,
    grades.query_sha256,
    grades.scale_mass,
    grades.cut_characters,
    grades.error,
    grades.gold_sha256
from {{ source('raw', 'grades') }} as grades
left join {{ ref('stg_passages') }} as passages using (collection, passage_id)
left join queries using (collection, query_id)
where
    (grades.passage_sha256 is null or grades.passage_sha256 = passages.text_sha256)
    and (grades.query_sha256 is null or grades.query_sha256 = queries.query_sha256)
