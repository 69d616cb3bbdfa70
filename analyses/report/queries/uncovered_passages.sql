-- Relevant passages that answer no item, the most relevant first
select
    query_id,
    passage_id,
    judgment,
    best_grade,
    coalesce(best_item_text, best_item_id) as best_item,
    left(text, 160) as text
from lake.marts.uncovered_passages
where
    collection = $collection
    and rubric_version = $rubric_version
    and grader = $grader
    and tau = $tau
    and assessor = $assessor
order by
    judgment desc,
    query_id asc,
    passage_id asc
limit $rows
