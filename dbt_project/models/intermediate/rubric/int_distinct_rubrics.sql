select
    variant as part,
    collection,
    grader_id,
    query_id,
    min(rubric_version) as rubric_version
from {{ ref('int_rubric_variants') }}
group by all
