-- How did each grading run end, how fast was it, and how many tokens did it use?
-- :collection :grader
select
    collection,
    grader,
    run_id,
    state,
    planned,
    ok + unanswerable + defaulted as graded,
    defaulted,
    failed,
    reused,
    tokens,
    round(pairs_per_second, 1) as pairs_per_second,
    round(tokens_per_pair, 1) as tokens_per_pair,
    round(share_cached, 2) as share_cached,
    started_at
from marts.grading_runs
where
    $asked_of_grading_runs
order by
    started_at desc,
    run_id asc
