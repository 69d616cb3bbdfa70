{{ config(materialized='view', post_hook="{{ point_latest_here('leaderboard') }}") }}

with

leaderboard as (
    select * from {{ ref('leaderboard', v=2) }}
),

completeness as (
    select * from {{ ref('label_completeness') }}
)

select
    leaderboard.collection,
    leaderboard.label_set,
    leaderboard.level,
    leaderboard.system,
    leaderboard.measure,
    leaderboard.score,
    leaderboard.score_4dp,
    leaderboard.score_answered,
    leaderboard.rank,
    leaderboard.n_queries,
    leaderboard.n_answered,
    leaderboard.stderr,
    leaderboard.n_unlabelled_at_k,
    leaderboard.cover,
    completeness.labelled_share,
    completeness.is_incomplete
from leaderboard
left join completeness using (collection, label_set)
