select
    collection,
    grader,
    -- errors of one kind differ in what they quote and in their numbers
    left(
        regexp_replace(
            regexp_replace(
                split_part(coalesce(error, 'no reason is known'), chr(10), 1),
                '''[^'']*''|"[^"]*"', '...', 'g'
            ),
            '[0-9]+', 'N', 'g'
        ),
        120
    ) as error_kind,
    min(failure) as failure,
    count(*) as n_pairs,
    count(distinct query_id) as n_queries,
    arg_max(error, graded_at) as newest_error,
    min(graded_at) as first_seen_at,
    max(graded_at) as last_seen_at,
    cast(sum(n_asked) as bigint) as n_asked
from {{ ref('failed_grades') }}
group by all
order by
    n_pairs desc,
    collection asc,
    grader asc,
    error_kind asc
