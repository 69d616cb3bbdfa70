with

segments as (
    select
        collection,
        query_id,
        unnest(segments) as segment
    from {{ source('raw', 'query_weights') }}
),

measures as (
    select * from {{ ref('int_measures') }}
),

all_queries as (
    select * from {{ ref('int_board_queries') }}
    semi join segments using (collection)
),

board_queries as (
    select
        all_queries.*,
        segments.segment
    from all_queries
    inner join segments using (collection, query_id)
),

weights as (
    select
        collection,
        label_set,
        averaged_over,
        sum(weight order by query_id) as weight
    from all_queries
    group by all
),

segment_weights as (
    select
        collection,
        label_set,
        averaged_over,
        segment,
        sum(weight order by query_id) as weight
    from board_queries
    group by all
),

cells as (
    select
        boards.collection,
        boards.label_set,
        measures.averaged_over,
        segment_weights.segment,
        boards.level,
        boards.system,
        boards.measure,
        boards.labelled_share,
        boards.is_incomplete,
        segment_weights.weight / weights.weight as weight_share
    from {{ ref('leaderboard') }} as boards
    inner join measures using (measure)
    inner join segment_weights using (collection, label_set, averaged_over)
    inner join weights using (collection, label_set, averaged_over)
),

scored as (
    select
        board_queries.*,
        topic_scores.level,
        topic_scores.system,
        topic_scores.measure,
        topic_scores.value
    from {{ ref('topic_scores') }} as topic_scores
    inner join measures using (measure)
    inner join board_queries using (collection, label_set, averaged_over, query_id)
),

{{ board_means(['collection', 'label_set', 'averaged_over', 'segment']) }},

rounded as (
    select
        * exclude (score, score_answered, stderr, weight_share),
        round(score, 10) as score,
        round(score, 4) as score_4dp,
        round(score_answered, 10) as score_answered,
        round(stderr, 10) as stderr,
        round(weight_share, 10) as weight_share
    from means
)

select
    collection,
    segment,
    label_set,
    level,
    system,
    measure,
    score,
    score_4dp,
    score_answered,
    rank() over (
        partition by collection, segment, label_set, level, measure
        order by score desc
    ) as rank,
    n_queries,
    n_answered,
    stderr,
    weight_share,
    labelled_share,
    is_incomplete
from rounded
