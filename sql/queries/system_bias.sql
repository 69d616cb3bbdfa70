-- Which systems does a judge favour, compared with people?
-- :collection = any            a collection
-- :label_set = any             judge:NAME, or GRADER/vN/POLICY
-- :assessor = any              an assessor
-- :measure = nDCG@10           a measure
-- :level = min_relevant        relevance level of the label set's scores, such as 2
with

-- unless given, a label set's level is that of the report: min_relevant, or its highest label
-- where that is lower (or the level of the grid that is nearest)
wanted as (
    select
        labels.collection,
        labels.label_set,
        least(any_value(collections.min_relevant), max(labels.label)) as level
    from marts.relevance_labels as labels
    inner join raw.collections as collections on labels.collection = collections.collection
    group by
        labels.collection,
        labels.label_set
),

levels as (
    select
        wanted.collection,
        wanted.label_set,
        coalesce(
            try_cast($level as integer),
            arg_min(grid.level, (abs(grid.level - wanted.level), grid.level))
        ) as level
    from wanted
    cross join intermediate.evaluation_levels as grid
    group by
        wanted.collection,
        wanted.label_set
)

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
inner join levels
    on
        system_bias.collection = levels.collection
        and system_bias.label_set = levels.label_set
        and system_bias.level = levels.level
where
    system_bias.measure = $measure
    and ($collection is null or system_bias.collection = $collection)
    and ($label_set is null or system_bias.label_set = $label_set)
    and ($assessor is null or system_bias.assessor = $assessor)
order by
    system_bias.collection asc,
    system_bias.label_set asc,
    system_bias.assessor asc,
    system_bias.favour desc,
    system_bias.system asc
