-- Each system's scores on the queries of label sets, in units of 0.0001, in the order of query ids:
-- null where a query does not count, -1e9 where the system left it unanswered (it counts 0)
with

measures as (
    select
        measure,
        case
            when kind in ('rubric', 'nuggets', 'criteria') then 'items'
            when kind in ('support', 'battles') then 'answers'
            else 'labels'
        end as counted_by,
        kind in ('binary', 'rubric') as has_levels
    from lake.intermediate.int_measures
),

-- a measure that knows no level has the same scores at each
boards as (
    select
        leaderboard.label_set,
        leaderboard.level,
        leaderboard.measure,
        leaderboard.system,
        measures.counted_by
    from lake.marts.leaderboard as leaderboard
    inner join measures using (measure)
    where
        leaderboard.collection = $collection
        and list_contains($label_sets, leaderboard.label_set)
    qualify
        measures.has_levels
        or leaderboard.level
        = min(leaderboard.level) over (partition by leaderboard.label_set, leaderboard.measure)
),

topic_scores as (
    select
        label_set,
        level,
        measure,
        system,
        query_id,
        value
    from lake.marts.topic_scores
    where collection = $collection and list_contains($label_sets, label_set)
),

-- as in the leaderboard: labels are there for the queries that were judged, a measure of the rubric
-- is taken on those that have items, whether or not any system answered them, and support on those
-- that were answered
counted as (
    select distinct
        label_set,
        'labels' as counted_by,
        query_id
    from lake.marts.relevance_labels
    where collection = $collection and list_contains($label_sets, label_set)
    union all
    select distinct
        label_sets.label_set,
        'items' as counted_by,
        items.query_id
    from lake.intermediate.int_label_sets as label_sets
    inner join lake.intermediate.int_grader_items as items
        using (collection, grader, rubric_version)
    where
        label_sets.collection = $collection
        and list_contains($label_sets, label_sets.label_set)
        and (label_sets.kind != 'criteria' or items.weight > 0)
    union all
    select distinct
        label_set,
        'answers' as counted_by,
        query_id
    from topic_scores
)

select
    boards.label_set,
    boards.level,
    boards.measure,
    boards.system,
    case
        when counted.query_id is null then null
        else coalesce(cast(round(10000 * topic_scores.value) as integer), -1000000000)
    end as score
from boards
inner join lake.raw.queries as queries on queries.collection = $collection
left join counted using (label_set, counted_by, query_id)
left join topic_scores using (label_set, level, measure, system, query_id)
-- rows, not lists: what is sorted into lists does not spill to the disk
order by boards.label_set, boards.level, boards.measure, boards.system, queries.query_id
