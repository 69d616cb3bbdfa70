-- Which queries do systems find hardest?
-- :collection = any            a collection
-- :label_set = any             assessor:NAME, judge:NAME, or GRADER/vN/POLICY
-- :measure = nDCG@10           as in the leaderboard's measure column
-- :level = min_relevant        labels at or above it are relevant, such as 2 (no effect on nDCG)
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
    topic_scores.collection,
    topic_scores.label_set,
    topic_scores.level,
    topic_scores.query_id,
    queries.text,
    round(avg(topic_scores.value), 4) as mean_score,
    max_by(topic_scores.system, topic_scores.value) as best_system,
    round(max(topic_scores.value), 4) as best_score
from marts.topic_scores
inner join raw.queries as queries
    on
        topic_scores.collection = queries.collection
        and topic_scores.query_id = queries.query_id
inner join levels
    on
        topic_scores.collection = levels.collection
        and topic_scores.label_set = levels.label_set
        and topic_scores.level = levels.level
where
    topic_scores.measure = $measure
    and ($collection is null or topic_scores.collection = $collection)
    and ($label_set is null or topic_scores.label_set = $label_set)
group by all
order by
    topic_scores.collection,
    topic_scores.label_set,
    mean_score
