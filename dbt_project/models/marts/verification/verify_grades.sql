with

-- what was asked about: items of the rubric, sentences that cite, and answers that battle
asked as (
    select
        collection,
        grader_id,
        rubric_version,
        query_id,
        item_id,
        item_text,
        place,
        gold_answers,
        gold_sha256
    from {{ ref('grader_items') }}
    union all
    select
        items.collection,
        graders.grader_id,
        items.rubric_version,
        items.query_id,
        items.item_id,
        items.text as item_text,
        null as place,
        case when graders.needs_gold_answers then items.gold_answers end as gold_answers,
        case when graders.needs_gold_answers then items.gold_sha256 end as gold_sha256
    from {{ ref('wanted_items') }} as items
    inner join {{ ref('graders') }} as graders using (kind)
    inner join {{ ref('judgment_kinds') }} as kinds using (kind)
    where kinds.texts in ('citations', 'battles')
),

-- of several people's grades the one in the middle, the lower of two; what settles a conflict comes
-- before all
grade_reviews as (
    select
        collection,
        grader_id,
        query_id,
        item_id,
        passage_id,
        grade,
        count(*) as n_reviews,
        count(*) filter (where is_agreed) as n_agreed,
        coalesce(
            arg_max(reviewed_grade, reviewed_at) filter (where settles),
            quantile_disc(reviewed_grade, 0.5)
        ) as reviewed_grade,
        string_agg(assessor || ': ' || note, '; ' order by assessor) as review_notes
    from {{ ref('int_grade_reviews') }}
    group by all
)

select
    item_grades.collection,
    item_grades.grader,
    asked.rubric_version,
    item_grades.query_id,
    item_grades.item_id,
    asked.item_text,
    asked.place,
    item_grades.passage_id,
    passages.passage_text as text,
    cast(item_grades.grade as integer) as grade,
    item_grades.answer,
    item_grades.answered_by,
    judgments.assessor,
    judgments.relevance as judgment,
    coalesce(grade_reviews.n_reviews, 0) as n_reviews,
    coalesce(grade_reviews.n_agreed, 0) as n_agreed,
    grade_reviews.reviewed_grade,
    grade_reviews.review_notes,
    asked.gold_answers
from {{ ref('int_answered_grades') }} as item_grades
inner join asked using (collection, grader_id, query_id, item_id)
left join {{ source('raw', 'judgments') }} as judgments using (collection, query_id, passage_id)
left join {{ ref('int_passage_texts') }} as passages using (collection, passage_id)
left join grade_reviews using (collection, grader_id, query_id, item_id, passage_id, grade)
where item_grades.gold_sha256 is not distinct from asked.gold_sha256
order by
    item_grades.collection asc,
    item_grades.grader asc,
    asked.rubric_version asc,
    item_grades.query_id asc,
    asked.place asc nulls last,
    item_grades.item_id asc,
    item_grades.grade desc,
    item_grades.passage_id asc,
    judgments.assessor asc
