select grades.*
from {{ source('raw', 'grades') }} as grades
left join {{ ref('stg_passages') }} as passages using (collection, passage_id)
left join {{ ref('stg_queries') }} as queries using (collection, query_id)
where
    (grades.passage_sha256 is null or grades.passage_sha256 = passages.text_sha256)
    and (grades.query_sha256 is null or grades.query_sha256 = queries.query_sha256)
