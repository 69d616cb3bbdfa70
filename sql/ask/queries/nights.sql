-- How did each night end, newest first?
--
-- Reads the working catalog, as with --live: a night that changed nothing publishes no release.
select
    night,
    state,
    release,
    started_at,
    seconds,
    files_accepted as accepted,
    files_quarantined as quarantined,
    pairs_graded as graded,
    pairs_failed as failed,
    pairs_left as "left",
    tokens,
    leaderboards_moved as moved,
    error
from marts.nights
order by
    started_at desc,
    run_id asc
