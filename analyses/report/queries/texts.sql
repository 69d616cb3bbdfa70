-- The texts of passages
select
    passage_id,
    text
from lake.raw.passages
where
    collection = $collection
    and passage_id in (select unnest(from_json($passage_ids, '["varchar"]')))
