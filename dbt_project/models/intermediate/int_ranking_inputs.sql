with

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
)

select
    collection,
    system,
    query_id,
    max(rank) as n_retrieved,
    hash(
        collection, system, query_id, {{ hash_of_rows('passage_id, rank') }}
    ) as ranking_hash
from ranked_entries
group by collection, system, query_id
