select grades.*
from {{ source('raw', 'grades') }} as grades
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
left join {{ ref('int_query_hashes') }} as texts using (collection, query_id, query_sha256)
where
    (grades.passage_sha256 is null or grades.passage_sha256 = passages.text_sha256)
    and (grades.query_sha256 is null or texts.slots is not null)
