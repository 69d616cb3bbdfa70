-- Reads raw tables, and views of these: the grading planner reads it between builds, so that it
-- must follow raw.
with

rankings as (
    select
        systems.collection,
        queries.query_id,
        systems.system,
        -- a generated response is taken whole
        if(systems.kind = 'generation', null, collections.default_pool_depth) as depth,
        row_number() over (order by systems.collection, systems.system, queries.query_id)
            as ranking_id
    from {{ source('raw', 'systems') }} as systems
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    inner join {{ ref('int_query_texts') }} as queries using (collection)
),

entries as (
    select
        rankings.ranking_id,
        rankings.depth,
        run_entries.passage_id,
        run_entries.ranking_score
    from {{ ref('int_run_entries') }} as run_entries
    inner join rankings using (collection, system, query_id)
    anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
),

-- who scores less need not be sorted, which would take most of the time
lowest_scores as (
    select
        ranking_id,
        list_min(max(ranking_score, depth)) as score
    from entries
    where depth < 1_000_000 -- DuckDB finds no more at once
    group by ranking_id
),

-- as trec_eval ranks
heads as (
    select
        entries.ranking_id,
        entries.passage_id
    from entries
    left join lowest_scores using (ranking_id)
    where lowest_scores.score is null or entries.ranking_score >= lowest_scores.score
    qualify entries.depth is null or entries.depth >= row_number() over (
        partition by entries.ranking_id
        order by entries.ranking_score desc, entries.passage_id desc
    )
),

pooled as (
    select
        rankings.collection,
        rankings.query_id,
        heads.passage_id
    from heads
    inner join rankings using (ranking_id)
    union
    select
        judgments.collection,
        judgments.query_id,
        judgments.passage_id
    from {{ source('raw', 'judgments') }} as judgments
    semi join {{ ref('int_query_texts') }} using (collection, query_id)
    anti join {{ ref('int_left_out_passages') }} using (collection, passage_id)
)

select
    pooled.*,
    passages.text_sha256
from pooled
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
