-- Items whose wording lets non-relevant passages count: too general, or not about the query.
with

-- few rows, however many grades there are: every version of the rubric and every tau share them
judged_grades as (
    select
        item_grades.collection,
        item_grades.grader_id,
        judgments.assessor,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.gold_sha256,
        item_grades.grade,
        count(*) filter (where judgments.relevance < collections.min_relevant) as n_non_relevant,
        count(*) filter (where judgments.relevance >= collections.min_relevant) as n_relevant
    from {{ ref('int_item_grades') }} as item_grades
    inner join {{ source('raw', 'judgments') }} as judgments
        using (collection, query_id, passage_id)
    inner join {{ source('raw', 'collections') }} as collections using (collection)
    group by all
),

hits as (
    select
        judged_grades.collection,
        judged_grades.grader_id,
        levels.level as tau,
        judged_grades.assessor,
        judged_grades.query_id,
        judged_grades.item_id,
        judged_grades.gold_sha256,
        coalesce(
            sum(judged_grades.n_non_relevant) filter (where judged_grades.grade >= levels.level), 0
        ) as n_hits,
        sum(judged_grades.n_non_relevant) as n_non_relevant,
        coalesce(
            sum(judged_grades.n_relevant) filter (where judged_grades.grade >= levels.level), 0
        ) as n_relevant_hits,
        sum(judged_grades.n_relevant) as n_relevant
    from judged_grades
    cross join {{ ref('evaluation_levels') }} as levels
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    cast(hits.tau as integer) as tau,
    hits.assessor,
    grader_items.query_id,
    grader_items.item_id,
    grader_items.item_text,
    cast(hits.n_hits as bigint) as n_hits,
    cast(hits.n_non_relevant as bigint) as n_non_relevant,
    round(hits.n_hits / hits.n_non_relevant, 10) as rate,
    cast(hits.n_relevant_hits as bigint) as n_relevant_hits,
    cast(hits.n_relevant as bigint) as n_relevant
from hits
inner join {{ ref('int_grader_items') }} as grader_items
    using (collection, grader_id, query_id, item_id)
where
    hits.n_hits > 0
    and hits.gold_sha256 is not distinct from grader_items.gold_sha256
order by
    rate desc,
    n_hits desc,
    grader_items.collection asc,
    grader_items.grader asc,
    grader_items.rubric_version asc,
    hits.tau asc,
    hits.assessor asc,
    grader_items.query_id asc,
    grader_items.item_id asc
