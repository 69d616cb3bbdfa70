select
    collection,
    grader,
    rubric_version,
    system,
    criterion_type,
    count(held) as n_judged,
    count(*) filter (where has_failed) as n_failed,
    round(count(*) filter (where has_failed) / count(held), 10) as failed_share
from {{ ref('int_answer_items') }}
where kind = 'criterion'
group by all
having count(held) > 0
