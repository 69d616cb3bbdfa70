with

runs as (
    select
        *,
        ok + unanswerable + defaulted + failed as pairs
    from {{ source('raw', 'grading_runs') }}
)

select
    runs.collection,
    graders.grader,
    runs.run_id,
    runs.state,
    runs.planned,
    runs.ok,
    runs.unanswerable,
    runs.defaulted,
    runs.failed,
    runs.reused,
    runs.tokens,
    runs.cached_tokens,
    runs.wall_seconds,
    round(runs.pairs / nullif(runs.wall_seconds, 0), 4) as pairs_per_second,
    round(runs.tokens / nullif(runs.pairs, 0), 4) as tokens_per_pair,
    round(runs.cached_tokens / nullif(runs.tokens, 0), 4) as share_cached,
    runs.started_at,
    runs.finished_at,
    runs.stack
from runs
inner join {{ ref('graders') }} as graders using (grader_id)
order by
    runs.started_at desc,
    runs.run_id asc
