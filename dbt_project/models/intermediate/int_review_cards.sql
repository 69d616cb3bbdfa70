-- A card has the grade in force. Where its text has changed it has none, and is left out. One
-- of a queue of judgments has the label of today.
with

review_cards as (
    select * from {{ source('raw', 'review_cards') }}
),

-- as the newest version that has it words it: cards of an item that was dropped stay
items as (
    select
        collection,
        query_id,
        item_id,
        arg_max(struct_pack(item_text := text, gold_sha256 := gold_sha256), rubric_version)
            as newest
    from {{ ref('wanted_items') }}
    where kind != 'passage'
    group by all
)

select
    review_cards.collection,
    review_cards.queue,
    review_cards.position,
    review_cards.grader_id,
    review_cards.query_id,
    review_cards.passage_id,
    review_cards.item_id,
    review_cards.passage_sha256,
    review_cards.query_sha256,
    review_cards.assessor,
    items.newest.item_text,
    grades_in_force.gold_sha256,
    grades_in_force.grade,
    grades_in_force.answer,
    coalesce(not grade_reviews.settles, false) as is_answered
from review_cards
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
inner join items using (collection, query_id, item_id)
inner join {{ ref('int_grades_in_force') }} as grades_in_force
    on
        review_cards.grader_id = grades_in_force.grader_id
        and review_cards.collection = grades_in_force.collection
        and review_cards.query_id = grades_in_force.query_id
        and review_cards.passage_id = grades_in_force.passage_id
        and review_cards.item_id = grades_in_force.item_id
        and review_cards.passage_sha256 is not distinct from grades_in_force.passage_sha256
        and review_cards.query_sha256 is not distinct from grades_in_force.query_sha256
        and grades_in_force.gold_sha256 is not distinct from case
            when graders.needs_gold_answers then items.newest.gold_sha256
        end
left join {{ ref('int_grade_reviews') }} as grade_reviews
    on
        review_cards.grader_id = grade_reviews.grader_id
        and review_cards.collection = grade_reviews.collection
        and review_cards.query_id = grade_reviews.query_id
        and review_cards.passage_id = grade_reviews.passage_id
        and review_cards.item_id = grade_reviews.item_id
        and review_cards.assessor = grade_reviews.assessor
        and grades_in_force.grade = grade_reviews.grade
where
    grades_in_force.grade is not null
    and items.newest.item_text is not null

union all

select
    review_cards.collection,
    review_cards.queue,
    review_cards.position,
    review_cards.grader_id,
    review_cards.query_id,
    review_cards.passage_id,
    review_cards.item_id,
    review_cards.passage_sha256,
    review_cards.query_sha256,
    review_cards.assessor,
    null as item_text,
    null as gold_sha256,
    cast(labels.label as integer) as grade,
    null as answer,
    judgments.assessor is not null as is_answered
from {{ source('raw', 'review_queues') }} as queues
inner join review_cards using (collection, queue)
inner join {{ ref('int_labels') }} as labels
    on
        queues.collection = labels.collection
        and queues.label_set = labels.label_set
        and review_cards.query_id = labels.query_id
        and review_cards.passage_id = labels.passage_id
left join {{ source('raw', 'judgments') }} as judgments
    on
        review_cards.collection = judgments.collection
        and review_cards.query_id = judgments.query_id
        and review_cards.passage_id = judgments.passage_id
        and review_cards.assessor = judgments.assessor
