-- Does a judge favour a kind of systems, such as those of its own family?
-- :collection = any            a collection
-- :label_set = any             judge:NAME, or GRADER/vN/POLICY
-- :assessor = any              an assessor
-- :grouping = any              a grouping of gradelake.toml
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
    group_bias.collection,
    group_bias.label_set,
    group_bias.level,
    group_bias.assessor,
    group_bias.grouping,
    group_bias.group_name,
    group_bias.n_systems,
    group_bias.n_others,
    round(group_bias.difference, 4) as difference,
    round(group_bias.stderr, 4) as stderr,
    round(group_bias.t, 2) as t
from marts.group_bias
inner join levels
    on
        group_bias.collection = levels.collection
        and group_bias.label_set = levels.label_set
        and group_bias.level = levels.level
where
    group_bias.measure = $measure
    and ($collection is null or group_bias.collection = $collection)
    and ($label_set is null or group_bias.label_set = $label_set)
    and ($assessor is null or group_bias.assessor = $assessor)
    and ($grouping is null or group_bias.grouping = $grouping)
order by
    group_bias.collection asc,
    group_bias.label_set asc,
    group_bias.assessor asc,
    group_bias.grouping asc,
    group_bias.difference desc nulls last,
    group_bias.group_name asc
