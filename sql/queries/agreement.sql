-- Whose leaderboards are alike: which labels order the systems as others do?
-- :collection = any            a collection
-- :label_set = any             judge:NAME, assessor:NAME, or GRADER/vN/POLICY
-- :reference = any             the label set it is compared with; any: the assessors
-- :measure = nDCG@10           a measure
-- :level = 1                   relevance level of the label set's scores
select
    collection,
    label_set,
    reference,
    reference_level,
    round(spearman, 3) as spearman,
    round(kendall, 3) as kendall,
    round(tau_ap, 3) as tau_ap,
    round(rbo, 3) as rbo,
    n_systems,
    undefined_reason
from marts.leaderboard_agreement
where
    measure = $measure
    and level = cast($level as integer)
    and ($collection is null or collection = $collection)
    and ($label_set is null or label_set = $label_set)
    and (reference = $reference or ($reference is null and assessor is not null))
order by
    collection asc,
    reference asc,
    kendall desc nulls last,
    label_set asc
