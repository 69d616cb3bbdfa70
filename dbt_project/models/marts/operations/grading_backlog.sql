select
    collection,
    grader,
    rubric_version,
    query_id,
    passage_id,
    item_id
from {{ ref('int_ungraded_pairs') }}
where
    status = 'missing'
    -- neither can be asked
    and engine not in ('imported', 'ensemble')
