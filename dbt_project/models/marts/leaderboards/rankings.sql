select
    collection,
    system,
    query_id,
    passage_id,
    rank
from {{ ref('int_ranked_entries') }}
