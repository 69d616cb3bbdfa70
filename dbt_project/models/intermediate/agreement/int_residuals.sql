-- What each system's score on a query gains under a label set, of all queries that the labels and
-- an assessor's judgments have. A system that left a query unanswered scores 0 on both sides.
-- Scores are decimals: sums of them do not depend on which thread adds first.
with

compared_scores as (
    select * from {{ ref('int_compared_scores') }}
),

boards as (
    select distinct
        collection,
        label_set,
        assessor,
        level,
        measure,
        query_id
    from compared_scores
)

select
    boards.*,
    systems.system,
    coalesce(cast(compared_scores.value as decimal(11, 10)), 0) as score,
    coalesce(cast(compared_scores.human_value as decimal(11, 10)), 0) as human_score,
    score - human_score as residual
from boards
inner join {{ source('raw', 'systems') }} as systems using (collection)
left join compared_scores
    using (collection, label_set, assessor, level, measure, query_id, system)
