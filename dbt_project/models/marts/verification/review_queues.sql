with

assignments as (
    select distinct
        collection,
        queue,
        assessor
    from {{ source('raw', 'review_cards') }}
),

review_cards as (
    select * from {{ ref('int_review_cards') }}
),

graders as (
    select * from {{ ref('int_own_graders') }}
),

open_conflicts as (
    select * from {{ ref('review_conflicts') }}
    where settled_by is null
),

-- whether all whom it goes to have reviewed it
cards as (
    select
        review_cards.collection,
        review_cards.queue,
        review_cards.position,
        graders.grader,
        review_cards.query_id,
        review_cards.passage_id,
        review_cards.item_id,
        review_cards.grade,
        bool_and(review_cards.is_answered) as is_done
    from review_cards
    left join graders using (grader_id)
    group by all
),

of_queues as (
    select
        cards.collection,
        cards.queue,
        count(*) as n_cards,
        count(*) filter (where cards.is_done) as n_done,
        count(open_conflicts.grader) filter (where cards.is_done) as n_conflicts
    from cards
    left join open_conflicts
        using (collection, grader, query_id, passage_id, item_id, grade)
    group by all
),

of_assessors as (
    select
        collection,
        queue,
        assessor,
        count(*) as n_assigned,
        count(*) filter (where is_answered) as n_answered
    from review_cards
    group by all
)

select
    queues.collection,
    queues.queue,
    assignments.assessor,
    coalesce(graders.grader, queues.label_set) as grader,
    queues.source,
    queues.tau,
    queues.overlap,
    coalesce(of_queues.n_cards, 0) as n_cards,
    coalesce(of_queues.n_done, 0) as n_done,
    coalesce(of_queues.n_conflicts, 0) as n_conflicts,
    coalesce(of_assessors.n_assigned, 0) as n_assigned,
    coalesce(of_assessors.n_answered, 0) as n_answered,
    queues.made_at
from {{ source('raw', 'review_queues') }} as queues
inner join assignments using (collection, queue)
left join graders using (grader_id)
left join of_queues using (collection, queue)
left join of_assessors using (collection, queue, assessor)
where coalesce(graders.grader, queues.label_set) is not null
order by
    queues.collection asc,
    queues.made_at asc,
    queues.queue asc,
    assignments.assessor asc
