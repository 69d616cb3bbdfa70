{{ config(materialized='view') }}

-- Reads staging views only: the grading planner reads it between builds, so it must follow raw.
with

collections as (
    select * from {{ ref('stg_collections') }}
),

queries as (
    select * from {{ ref('stg_queries') }}
),

passages as (
    select * from {{ ref('stg_passages') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

run_entries as (
    select * from {{ ref('stg_run_entries') }}
),

judgments as (
    select * from {{ ref('stg_judgments') }}
),

left_out_passages as (
    select * from {{ ref('int_left_out_passages') }}
),

-- whole numbers, as in int_ranked_entries: much faster to sort by than strings. A generated
-- response is taken whole (no depth).
rankings as (
    select
        systems.collection,
        systems.system,
        queries.query_id,
        case when systems.kind != 'generation' then collections.default_pool_depth end as depth,
        row_number() over (
            order by systems.collection, systems.system, queries.query_id
        ) as ranking_id
    from systems
    inner join queries on systems.collection = queries.collection
    inner join collections on systems.collection = collections.collection
),

numbered_entries as (
    select
        rankings.ranking_id,
        rankings.depth,
        run_entries.passage_id,
        run_entries.ranking_score
    from run_entries
    inner join rankings
        on
            run_entries.collection = rankings.collection
            and run_entries.system = rankings.system
            and run_entries.query_id = rankings.query_id
    anti join left_out_passages
        on
            run_entries.collection = left_out_passages.collection
            and run_entries.passage_id = left_out_passages.passage_id
),

ranked_entries as (
    select
        ranking_id,
        depth,
        passage_id,
        row_number() over (
            partition by ranking_id
            order by {{ ranking_order() }}
        ) as rank
    from numbered_entries
),

retrieved as (
    select
        rankings.collection,
        rankings.query_id,
        ranked_entries.passage_id
    from ranked_entries
    inner join rankings on ranked_entries.ranking_id = rankings.ranking_id
    where
        ranked_entries.depth is null
        or ranked_entries.rank <= ranked_entries.depth
),

judged as (
    select
        judgments.collection,
        judgments.query_id,
        judgments.passage_id
    from judgments
    semi join queries
        on
            judgments.collection = queries.collection
            and judgments.query_id = queries.query_id
    anti join left_out_passages
        on
            judgments.collection = left_out_passages.collection
            and judgments.passage_id = left_out_passages.passage_id
),

pooled as (
    select * from retrieved
    union
    select * from judged
)

select
    pooled.collection,
    pooled.query_id,
    pooled.passage_id,
    passages.text_sha256
from pooled
left join passages
    on
        pooled.collection = passages.collection
        and pooled.passage_id = passages.passage_id
