{{ config(materialized='table') }}

-- Passages and scores say what a ranking is, without ranking it.
select
    run_entries.collection,
    run_entries.system,
    run_entries.query_id,
    count(*) as n_retrieved,
    hash(
        run_entries.collection,
        run_entries.system,
        run_entries.query_id,
        {{ hash_of_rows('run_entries.passage_id, run_entries.ranking_score') }}
    ) as ranking_hash
from {{ ref('int_run_entries') }} as run_entries
semi join {{ ref('int_query_texts') }} using (collection, query_id)
anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
group by run_entries.collection, run_entries.system, run_entries.query_id
