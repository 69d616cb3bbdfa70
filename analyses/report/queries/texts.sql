-- The texts of passages
select
    passage_id,
    text
from lake.raw.passages
where
    collection = $collection
    and passage_id in (select unnest(cast($passage_ids as varchar[])))
