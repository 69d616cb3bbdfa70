-- Which systems does a judge favour, compared with people?
-- :collection :label_set :assessor
-- :measure = nDCG@10           a measure
-- :level = usual               relevance level of the label set's scores, such as 2
select
    system_bias.collection,
    system_bias.label_set,
    system_bias.level,
    system_bias.assessor,
    system_bias.system,
    round(system_bias.score, 4) as score,
    round(system_bias.human_score, 4) as human_score,
    round(system_bias.favour, 4) as favour,
    round(system_bias.stderr, 4) as stderr,
    system_bias.n_queries
from marts.system_bias
inner join marts.usual_levels as levels using (collection, label_set)
where
    system_bias.measure = $measure
    and system_bias.level = coalesce(try_cast($level as integer), levels.level)
    and $asked_of_system_bias
order by
    system_bias.collection asc,
    system_bias.label_set asc,
    system_bias.assessor asc,
    system_bias.favour desc,
    system_bias.system asc
