-- Where do a grader and a person differ most on whether a citation supports a sentence?
-- :collection :grader :query_id
select distinct
    labels.collection,
    labels.grader,
    judgments.assessor,
    labels.query_id,
    labels.support,
    case judgments.support when 2 then 'full' when 1 then 'partial' else 'none' end as judgment,
    labels.sentence_text,
    labels.cited_passage_id,
    left(labels.cited_text, 80) as cited_text,
    abs(labels.weight - judgments.support / 2) as gap
from marts.support_labels as labels
inner join raw.support_judgments as judgments
    using (collection, query_id, item_id, cited_passage_id)
where
    $asked_of_labels
    and not starts_with(labels.grader, 'assessor:')
    and labels.weight != judgments.support / 2
order by
    gap desc,
    labels.collection asc,
    labels.grader asc,
    judgments.assessor asc,
    labels.query_id asc,
    labels.sentence_text asc
