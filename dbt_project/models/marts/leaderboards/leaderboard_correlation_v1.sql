{{ config(materialized='view') }}

with

leaderboard_correlation as (
    select * from {{ ref('leaderboard_correlation', v=2) }}
)

select
    collection,
    label_set,
    level,
    measure,
    leaderboard,
    spearman,
    kendall,
    tau_ap,
    rbo,
    spearman_unrounded,
    kendall_unrounded,
    n_systems,
    undefined_reason,
    left_out
from leaderboard_correlation
