-- Relevant passages that answer no item, the most relevant first
select
    uncovered.query_id,
    uncovered.passage_id,
    uncovered.judgment,
    uncovered.best_grade,
    coalesce(uncovered.best_item_text, uncovered.best_item_id) as best_item,
    left(uncovered.text, 160) as text
from lake.marts.uncovered_passages as uncovered
inner join lake.marts.rubric_versions as versions
    on
        uncovered.collection = versions.collection
        and uncovered.rubric_version = versions.rubric_version
where
    uncovered.collection = $collection
    and versions.is_newest
    and uncovered.grader = $grader
    and uncovered.tau = $tau
    and uncovered.assessor = $assessor
order by
    uncovered.judgment desc,
    uncovered.query_id asc,
    uncovered.passage_id asc
limit $rows
