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
topic_scores as (
    select
        scores.level,
        scores.measure,
        scores.system,
        scores.query_id,
        scores.value,
        measures.is_of_rubric
    from lake.marts.topic_scores as scores
    inner join measures using (measure)
    where scores.collection = $collection and scores.label_set = $label_set
    qualify
        measures.has_levels
        or scores.level = min(scores.level) over (partition by scores.measure)
),

labelled_queries as (
    select distinct query_id
    from lake.marts.relevance_labels
    where collection = $collection and label_set = $label_set
),

boards as (
    select distinct
        level,
        measure,
        system,
        is_of_rubric
    from topic_scores
),

-- a measure of the rubric is taken on the queries that have rubric items
counted as (
    select distinct
        level,
        measure,
        query_id
    from topic_scores
    where is_of_rubric
    union
    select distinct
        boards.level,
        boards.measure,
        labelled_queries.query_id
    from boards
    cross join labelled_queries
    where not boards.is_of_rubric
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
left join counted using (level, measure, query_id)
left join topic_scores using (level, measure, system, query_id)
group by all
order by all
