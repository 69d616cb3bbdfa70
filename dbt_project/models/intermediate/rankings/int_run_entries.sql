select
    collection,
    system,
    query_id,
    passage_id,
    -- trec_eval parses scores as doubles and compares them as 32-bit floats
    cast(score as float) as ranking_score
from {{ source('raw', 'run_entries') }}
