-- Which sentences of answers does nothing that they cite support, or only in part?
-- :collection :grader :system :query_id
select
    collection,
    grader,
    system,
    query_id,
    sentence,
    coalesce(arg_max(support, weight), 'not in the lake') as support,
    sentence_text,
    string_agg(
        cited_passage_id || ' '
        || coalesce(support, if(is_in_lake, 'not judged', 'not in the lake')),
        ', ' order by citation
    ) as cited,
    left(arg_max(cited_text, weight), 80) as cited_text
from marts.support_labels
where
    $asked_of_support_labels
    and cited_passage_id is not null
group by all
-- a citation that supports it wholly is enough; where nothing was judged yet, nothing is known
having
    coalesce(max(weight), 0) < 1
    and (max(weight) is not null or not bool_and(is_in_lake))
order by
    max(weight) asc nulls first,
    collection asc,
    grader asc,
    system asc,
    query_id asc,
    sentence asc
