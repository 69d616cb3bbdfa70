-- Each system's scores on the queries of label sets, in units of 0.0001, in the order of query ids:
-- null where a query does not count, -1e9 where the system left it unanswered (it counts 0). Which
-- board they are of stands beside the first of them alone.
with

measures as (
    select
        measure,
        case
            when kind in ('rubric', 'nuggets', 'criteria') then 'items'
            when kind in ('support', 'battles') then 'answers'
            when kind = 'scores' then measure
            else 'labels'
        end as counted_by,
        kind in ('binary', 'rubric') as has_levels
    from lake.intermediate.int_measures
),

-- a measure that knows no level has the same scores at each
boards as (
    select
        row_number() over (
            order by
                leaderboard.label_set,
                leaderboard.level,
                leaderboard.measure,
                leaderboard.system
        ) as board_id,
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
-- that were answered; what was scored elsewhere, where all systems have a score
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
    union all
    select
        label_set,
        averaged_over[8:] as counted_by,
        query_id
    from lake.intermediate.int_board_queries
    where
        collection = $collection
        and starts_with(averaged_over, 'scores/')
),

scores as (
    select
        boards.board_id,
        topic_scores.query_id,
        topic_scores.value
    from topic_scores
    inner join boards using (label_set, level, measure, system)
),

ways as (
    select distinct
        label_set,
        counted_by
    from boards
),

asked as (
    select
        ways.label_set,
        ways.counted_by,
        queries.query_id,
        counted.query_id is not null as counts,
        queries.query_id
        = min(queries.query_id) over (partition by ways.label_set, ways.counted_by) as is_first
    from ways
    inner join lake.raw.queries as queries on queries.collection = $collection
    left join counted using (label_set, counted_by, query_id)
)

select
    case
        when asked.is_first
            then struct_pack(
                label_set := boards.label_set,
                level := boards.level,
                measure := boards.measure,
                system := boards.system
            )
    end as board,
    case
        when asked.counts
            then coalesce(cast(round(10000 * scores.value) as integer), -1000000000)
    end as score
from boards
inner join asked using (label_set, counted_by)
left join scores using (board_id, query_id)
-- rows, not lists: what is sorted into lists does not spill to the disk
order by boards.board_id, asked.query_id
