-- Does a judge favour a kind of systems, such as those of its own family?
-- :collection = any            a collection
-- :label_set = any             judge:NAME, or GRADER/vN/POLICY
-- :assessor = any              an assessor
-- :grouping = any              a grouping of gradelake.toml
-- :measure = nDCG@10           a measure
-- :level = 1                   relevance level of the label set's scores
select
    collection,
    label_set,
    assessor,
    grouping,
    group_name,
    n_systems,
    n_others,
    round(difference, 4) as difference,
    round(stderr, 4) as stderr,
    round(t, 2) as t
from marts.group_bias
where
    measure = $measure
    and level = cast($level as integer)
    and ($collection is null or collection = $collection)
    and ($label_set is null or label_set = $label_set)
    and ($assessor is null or assessor = $assessor)
    and ($grouping is null or grouping = $grouping)
order by
    collection asc,
    label_set asc,
    assessor asc,
    grouping asc,
    difference desc nulls last,
    group_name asc
