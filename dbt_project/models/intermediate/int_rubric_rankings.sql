select
    hash(rubrics.part, rankings.ranking_hash) as part,
    rubrics.part as variant,
    rubrics.collection,
    rubrics.grader_id,
    rubrics.rubric_version,
    rubrics.query_id,
    rankings.system
from {{ ref('int_distinct_rubrics') }} as rubrics
inner join {{ ref('int_ranking_inputs') }} as rankings using (collection, query_id)
