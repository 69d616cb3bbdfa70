-- A card has the grade in force. Where its text has changed it has none, and is left out. One
-- of a queue of judgments has the label of today, one of the pool none.
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
    review_cards.*,
    items.newest.item_text,
    grades_in_force.gold_sha256,
    grades_in_force.grade,
    grades_in_force.answer,
    coalesce(not grade_reviews.settles, false) as is_answered
from review_cards
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
inner join items using (collection, query_id, item_id)
inner join {{ ref('int_grades_in_force') }} as grades_in_force
    using (grader_id, collection, query_id, passage_id, item_id)
left join {{ ref('int_grade_reviews') }} as grade_reviews
    using (grader_id, collection, query_id, passage_id, item_id, assessor, grade)
where
    review_cards.passage_sha256 is not distinct from grades_in_force.passage_sha256
    and review_cards.query_sha256 is not distinct from grades_in_force.query_sha256
    and grades_in_force.gold_sha256 is not distinct from case
        when graders.needs_gold_answers then items.newest.gold_sha256
    end
    and grades_in_force.grade is not null
    and items.newest.item_text is not null

union all by name

select
    review_cards.*,
    cast(labels.label as integer) as grade,
    judgments.assessor is not null as is_answered
from {{ source('raw', 'review_queues') }}
inner join review_cards using (collection, queue)
left join {{ ref('int_labels') }} as labels using (collection, label_set, query_id, passage_id)
left join {{ source('raw', 'judgments') }} as judgments
    using (collection, query_id, passage_id, assessor)
where labels.label is not null or label_set = 'pool'
