select * exclude (grader_id, engine, status)
from {{ ref('int_ungraded_pairs') }}
where
    status = 'missing'
    -- neither can be asked
    and engine not in ('imported', 'ensemble')
