with

weights as (
    select
        collection,
        label_set,
        averaged_over,
        sum(weight order by query_id) as whole_weight
    from {{ ref('board_queries') }}
    group by all
),

board_queries as (
    select
        all_queries.*,
        unnest(stated.segments) as segment
    from {{ ref('board_queries') }} as all_queries
    inner join {{ source('raw', 'query_weights') }} as stated using (collection, query_id)
),

segments as (
    select distinct
        collection,
        segment
    from board_queries
),

cells as (
    select
        boards.collection,
        boards.label_set,
        measures.averaged_over,
        segments.segment,
        boards.level,
        boards.system,
        boards.measure,
        boards.labelled_share,
        boards.is_incomplete,
        weights.whole_weight
    from {{ ref('leaderboard') }} as boards
    inner join {{ ref('measures') }} as measures using (measure)
    inner join segments using (collection)
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
    inner join {{ ref('measures') }} using (measure)
    inner join board_queries using (collection, label_set, averaged_over, query_id)
),

{{ board_means(['collection', 'label_set', 'averaged_over', 'segment']) }}

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
    round(weight / whole_weight, 10) as weight_share,
    labelled_share,
    is_incomplete
from means
