select distinct
    submissions.grader_id,
    submissions.collection,
    submitted_pairs.query_id,
    submitted_pairs.passage_id,
    submitted_pairs.item_id,
    submitted_pairs.passage_sha256,
    submitted_pairs.gold_sha256
from {{ source('raw', 'submitted_pairs') }} as submitted_pairs
inner join {{ source('raw', 'submissions') }} as submissions using (submission_id)
inner join {{ ref('stg_queries') }} as queries using (collection, query_id)
where
    submissions.state in ('intended', 'submitted')
    and coalesce(submitted_pairs.query_sha256, queries.query_sha256) = queries.query_sha256
