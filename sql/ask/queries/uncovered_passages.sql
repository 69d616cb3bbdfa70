-- Which relevant passages does the rubric miss, most relevant first?
-- :collection :grader :rubric_version :tau :query_id
select
    uncovered_passages.collection,
    uncovered_passages.grader,
    uncovered_passages.rubric_version,
    uncovered_passages.assessor,
    uncovered_passages.query_id,
    queries.text as query,
    uncovered_passages.passage_id,
    uncovered_passages.judgment,
    uncovered_passages.best_grade,
    coalesce(uncovered_passages.best_item_text, uncovered_passages.best_item_id) as best_item,
    left(uncovered_passages.text, 80) as text
from marts.uncovered_passages
inner join raw.queries as queries using (collection, query_id)
where
    uncovered_passages.tau = cast($tau as integer)
    and $asked_of_uncovered_passages
order by
    uncovered_passages.judgment desc,
    uncovered_passages.best_grade asc,
    uncovered_passages.collection asc,
    uncovered_passages.grader asc,
    uncovered_passages.rubric_version asc,
    uncovered_passages.assessor asc,
    uncovered_passages.query_id asc,
    uncovered_passages.passage_id asc
