{{ config(materialized='view', post_hook="{{ point_latest_here('leaderboard') }}") }}

with

passage_scores as (
    select * from {{ ref('int_board_scores') }}
),

answer_scores as (
    select * from {{ ref('int_answer_boards') }}
),

scores as (
    select * exclude (part) from passage_scores
    union all by name
    select * from answer_scores
),

measures as (
    select * from {{ ref('int_measures') }}
),

completeness as (
    select * from {{ ref('label_completeness') }}
)

select
    scores.collection,
    scores.label_set,
    scores.level,
    scores.system,
    scores.measure,
    scores.score,
    scores.score_4dp,
    scores.score_answered,
    rank() over (
        partition by scores.collection, scores.label_set, scores.level, scores.measure
        order by scores.score desc
    ) as rank,
    scores.n_queries,
    scores.n_answered,
    scores.stderr,
    scores.n_unlabelled_at_k,
    covers.score as cover,
    completeness.labelled_share,
    completeness.is_incomplete
from scores
inner join measures using (measure)
left join scores as covers
    on
        scores.collection = covers.collection
        and scores.label_set = covers.label_set
        and scores.level = covers.level
        and scores.system = covers.system
        and covers.measure = 'Cover@' || measures.cutoff
left join completeness
    on
        scores.collection = completeness.collection
        and scores.label_set = completeness.label_set
