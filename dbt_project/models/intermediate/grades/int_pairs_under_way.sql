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
left join {{ ref('stg_query_hashes') }} as texts using (collection, query_id, query_sha256)
where
    submissions.state in ('intended', 'submitted')
    and (submitted_pairs.query_sha256 is null or texts.slots is not null)
