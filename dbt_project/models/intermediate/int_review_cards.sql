{{ config(materialized='view') }}

-- A card has the grade in force. Where its text has changed it has none, and is left out.
with

review_cards as (
    select * from {{ ref('stg_review_cards') }}
),

grades_in_force as (
    select * from {{ ref('int_grades_in_force') }}
),

grade_reviews as (
    select * from {{ ref('int_grade_reviews') }}
),

graders as (
    select * from {{ ref('int_own_graders') }}
),

-- as the newest version that has it words it: cards of an item that was dropped stay
items as (
    select
        collection,
        query_id,
        item_id,
        arg_max(
            struct_pack(item_text := item_text, gold_sha256 := gold_sha256), rubric_version
        ) as newest
    from {{ ref('int_distinct_items') }}
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
inner join graders using (grader_id)
inner join items using (collection, query_id, item_id)
inner join grades_in_force
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
left join grade_reviews
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
