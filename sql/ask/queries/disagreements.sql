-- Where do a label and an assessor's judgment differ most?
-- :collection :label_set
-- :grader = any                a grader's name: only label sets made from its grades
-- :rubric_version :query_id
select
    disagreements.collection,
    disagreements.label_set,
    disagreements.assessor,
    disagreements.query_id,
    queries.text as query,
    disagreements.passage_id,
    disagreements.label,
    disagreements.judgment,
    round(disagreements.gap, 2) as gap,
    coalesce(disagreements.best_item_text, disagreements.best_item_id) as best_item,
    disagreements.best_answer,
    left(disagreements.text, 80) as text
from marts.disagreements
left join marts.rubric_versions as versions using (collection, rubric_version)
inner join raw.queries as queries using (collection, query_id)
where
    $asked_of_disagreements
    and ($label_set is null or disagreements.label_set = $label_set)
    -- a judge has no rubric, and a label set that was asked for by name has the version it has
    and (
        $rubric_version is null
        or $label_set is not null
        or disagreements.rubric_version is null
        or list_contains(versions.names, $rubric_version)
    )
order by
    disagreements.gap desc,
    disagreements.collection asc,
    disagreements.label_set asc,
    disagreements.assessor asc,
    disagreements.query_id asc,
    disagreements.passage_id asc
