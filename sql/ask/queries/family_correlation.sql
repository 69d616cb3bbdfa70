-- Does a judge agree with people without one family of systems, too?
-- :collection :label_set :assessor
-- :grouping = any              a grouping of gradelake.toml, or generator family
-- :measure = nDCG@10           a measure
select
    collection,
    label_set,
    level,
    assessor,
    grouping,
    group_name as without,
    n_left_out as left_out,
    n_systems as systems,
    round(kendall, 3) as kendall,
    round(kendall_of_all, 3) as of_all,
    round(kendall_by_group, 3) as by_group
from marts.family_correlation
where
    measure = $measure
    and $asked_of_family_correlation
order by
    collection asc,
    label_set asc,
    assessor asc,
    grouping asc,
    kendall_by_group desc nulls last,
    group_name asc
