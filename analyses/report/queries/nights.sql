-- The nights of the whole lake, newest first
select
    night,
    state,
    release,
    strftime(started_at, '%Y-%m-%d %H:%M') as began,
    round(seconds / 60, 1) as minutes,
    files_accepted,
    pairs_graded,
    pairs_failed,
    pairs_left,
    tokens,
    leaderboards_moved,
    error
from lake.marts.nights
order by
    started_at desc,
    run_id asc
