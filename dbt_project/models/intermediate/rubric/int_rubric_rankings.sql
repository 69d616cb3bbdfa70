select
    hash(rubrics.part, rankings.ranking_hash) as part,
    rubrics.part as variant,
    rubrics.* exclude (part),
    rankings.system
from {{ ref('int_distinct_rubrics') }} as rubrics
inner join {{ ref('int_ranking_inputs') }} as rankings using (collection, query_id)
