with

pairs as (
    select
        grader_id,
        collection,
        unnest(pairs ->> '$[*].query_id') as query_id,
        unnest(pairs ->> '$[*].passage_id') as passage_id,
        unnest(pairs ->> '$[*].item_id') as item_id,
        unnest(pairs ->> '$[*].passage_sha256') as passage_sha256,
        unnest(pairs ->> '$[*].query_sha256') as query_sha256,
        unnest(pairs ->> '$[*].gold_sha256') as gold_sha256
    from {{ source('raw', 'replies') }}
    where state = 'under way'
)

select distinct
    pairs.grader_id,
    pairs.collection,
    pairs.query_id,
    pairs.passage_id,
    pairs.item_id,
    pairs.passage_sha256,
    pairs.gold_sha256
from pairs
left join {{ ref('int_query_hashes') }} as texts using (collection, query_id, query_sha256)
where
    pairs.query_sha256 is null
    or texts.slots is not null
