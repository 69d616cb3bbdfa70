-- Which systems does a judge favour, compared with people?
-- :collection = any            a collection
-- :label_set = any             judge:NAME, or GRADER/vN/POLICY
-- :assessor = any              an assessor
-- :measure = nDCG@10           a measure
-- :level = 1                   relevance level of the label set's scores
select
    collection,
    label_set,
    assessor,
    system,
    round(score, 4) as score,
    round(human_score, 4) as human_score,
    round(favour, 4) as favour,
    round(stderr, 4) as stderr,
    n_queries
from marts.system_bias
where
    measure = $measure
    and level = cast($level as integer)
    and ($collection is null or collection = $collection)
    and ($label_set is null or label_set = $label_set)
    and ($assessor is null or assessor = $assessor)
order by
    collection asc,
    label_set asc,
    assessor asc,
    favour desc,
    system asc
