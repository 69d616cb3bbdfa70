-- Items that non-relevant passages answer, most often first
select
    spurious.query_id,
    coalesce(spurious.item_text, spurious.item_id) as item,
    spurious.n_hits,
    spurious.n_non_relevant,
    spurious.n_relevant_hits,
    spurious.n_relevant
from lake.marts.spurious_items as spurious
inner join lake.marts.rubric_versions as versions
    on
        spurious.collection = versions.collection
        and spurious.rubric_version = versions.rubric_version
where
    spurious.collection = $collection
    and versions.is_newest
    and spurious.grader = $grader
    and spurious.tau = $tau
    and spurious.assessor = $assessor
order by
    spurious.n_hits desc,
    spurious.query_id asc,
    spurious.item_id asc
limit $rows
