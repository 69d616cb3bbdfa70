-- Does a judge favour a group of systems, such as those of its own family?
-- :collection :label_set :assessor
-- :grouping = any              a grouping of gradelake.toml
-- :measure = nDCG@10           a measure
-- :level = usual               relevance level of the label set's scores, such as 2
select
    group_bias.collection,
    group_bias.label_set,
    group_bias.level,
    group_bias.assessor,
    group_bias.grouping,
    group_bias.group_name,
    group_bias.n_systems,
    group_bias.n_others,
    group_bias.n_queries,
    round(group_bias.difference, 4) as difference,
    round(group_bias.stderr, 4) as stderr,
    round(group_bias.t, 2) as t,
    round(group_bias.p, 4) as p,
    round(group_bias.p_holm, 4) as p_holm
from marts.group_bias
inner join marts.usual_levels as levels using (collection, label_set)
where
    group_bias.measure = $measure
    and group_bias.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_group_bias
order by
    group_bias.collection asc,
    group_bias.label_set asc,
    group_bias.assessor asc,
    group_bias.grouping asc,
    group_bias.difference desc nulls last,
    group_bias.group_name asc
