-- How far along is each review queue of grades?
-- :collection :grader
select
    collection,
    queue,
    grader,
    source,
    overlap,
    n_cards,
    n_done,
    n_conflicts,
    assessor,
    n_assigned,
    n_answered
from marts.review_queues
where
    $asked_of_review_queues
order by
    collection asc,
    made_at asc,
    queue asc,
    assessor asc
