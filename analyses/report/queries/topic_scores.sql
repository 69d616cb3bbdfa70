-- Each system's scores on the topics of a label set, in units of 0.0001, in the order of query ids:
-- null where a topic does not count, -1 where the system left it unanswered (it counts 0)
with

queries as (
    select query_id
    from lake.raw.queries
    where collection = $collection
),

measures as (
    select
        measure,
        kind = 'rubric' as is_of_rubric,
        kind in ('binary', 'rubric') as has_levels
    from lake.intermediate.int_measures
),

-- a measure that knows no level has the same scores at each
boards as (
    select
        leaderboard.level,
        leaderboard.measure,
        leaderboard.system,
        measures.is_of_rubric
    from lake.marts.leaderboard as leaderboard
    inner join measures using (measure)
    where leaderboard.collection = $collection and leaderboard.label_set = $label_set
    qualify
        measures.has_levels
        or leaderboard.level = min(leaderboard.level) over (partition by leaderboard.measure)
),

topic_scores as (
    select
        level,
        measure,
        system,
        query_id,
        value
    from lake.marts.topic_scores
    where collection = $collection and label_set = $label_set
),

-- as in the leaderboard: labels are there for the queries that were judged, and a measure of the
-- rubric is taken on those that have items, whether or not any system answered them
counted as (
    select distinct
        false as is_of_rubric,
        query_id
    from lake.marts.relevance_labels
    where collection = $collection and label_set = $label_set
    union all
    select distinct
        true as is_of_rubric,
        items.query_id
    from lake.intermediate.int_label_sets as label_sets
    inner join lake.intermediate.int_grader_items as items
        using (collection, grader, rubric_version)
    where label_sets.collection = $collection and label_sets.label_set = $label_set
)

select
    boards.level,
    boards.measure,
    boards.system,
    list(
        case
            when counted.query_id is null then null
            else coalesce(cast(round(10000 * topic_scores.value) as integer), -1)
        end
        order by queries.query_id
    ) as scores
from boards
cross join queries
left join counted using (is_of_rubric, query_id)
left join topic_scores using (level, measure, system, query_id)
group by all
order by all
