-- Which sentences of answers are not supported by what they cite, or only in part?
-- :collection = any            a collection
-- :grader = any                a grader's name
-- :system = any                a system
-- :query_id = any              a query
select
    collection,
    grader,
    system,
    query_id,
    sentence,
    citation,
    coalesce(support, 'not in the lake') as support,
    sentence_text,
    cited_passage_id,
    left(cited_text, 80) as cited_text
from marts.support_labels
where
    $asked_of_support_labels
    and (support in ('none', 'partial') or not is_in_lake)
order by
    weight asc nulls first,
    collection asc,
    grader asc,
    system asc,
    query_id asc,
    sentence asc,
    citation asc
