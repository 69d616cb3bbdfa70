-- Which sentences of answers cite nothing?
-- :collection :system :query_id
select distinct
    collection,
    system,
    query_id,
    sentence,
    sentence_text
from marts.support_labels
where
    $asked_of_support_labels
    and cited_passage_id is null
order by all
