-- Each system's scores on the queries of label sets, in units of 0.0001, in the order of query ids:
-- null where a query does not count, -1e9 where the system left it unanswered (it counts 0). Which
-- board they are of stands beside the first of them alone.
with

measures as (
    select
        measure,
        averaged_over,
        kind in ('binary', 'rubric') as has_levels
    from lake.marts.measures
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
        measures.averaged_over
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

scores as (
    select
        boards.board_id,
        topic_scores.query_id,
        topic_scores.value
    from lake.marts.topic_scores as topic_scores
    inner join boards using (label_set, level, measure, system)
    where topic_scores.collection = $collection
),

ways as (
    select distinct
        label_set,
        averaged_over
    from boards
),

asked as (
    select
        ways.label_set,
        ways.averaged_over,
        queries.query_id,
        board_queries.query_id is not null as counts,
        queries.query_id
        = min(queries.query_id) over (partition by ways.label_set, ways.averaged_over) as is_first
    from ways
    inner join lake.raw.queries as queries on queries.collection = $collection
    left join lake.marts.board_queries as board_queries
        on
            queries.collection = board_queries.collection
            and queries.query_id = board_queries.query_id
            and ways.label_set = board_queries.label_set
            and ways.averaged_over = board_queries.averaged_over
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
inner join asked using (label_set, averaged_over)
left join scores using (board_id, query_id)
-- rows, not lists: what is sorted into lists does not spill to the disk
order by boards.board_id, asked.query_id
