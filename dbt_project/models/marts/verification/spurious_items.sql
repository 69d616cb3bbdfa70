-- Items whose wording lets non-relevant passages count: too general, or not about the query.
with

-- judgments below which one may call a passage non-relevant: each of a short scale, and the usual
thresholds as (
    select
        collection,
        min_relevant,
        unnest(list_distinct(list_concat(
            if(max_relevance <= 9, range(1, max_relevance + 1), []), [min_relevant]
        ))) as below
    from {{ source('raw', 'collections') }}
),

-- few rows, however many grades there are: every version of the rubric, every tau and every
-- threshold share them
judged_grades as (
    select
        item_grades.collection,
        item_grades.grader_id,
        judgments.assessor,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.gold_sha256,
        item_grades.grade,
        judgments.relevance,
        count(*) as n
    from {{ ref('int_item_grades') }} as item_grades
    inner join {{ source('raw', 'judgments') }} as judgments
        using (collection, query_id, passage_id)
    group by all
),

by_threshold as (
    select
        judged_grades.* exclude (relevance, n),
        thresholds.below,
        thresholds.below = thresholds.min_relevant as is_usual,
        sum(judged_grades.n) filter (
            where judged_grades.relevance < thresholds.below
        ) as n_non_relevant,
        sum(judged_grades.n) filter (
            where judged_grades.relevance >= thresholds.below
        ) as n_relevant
    from judged_grades
    inner join thresholds using (collection)
    group by all
),

hits as (
    select
        by_threshold.collection,
        by_threshold.grader_id,
        levels.level as tau,
        by_threshold.below,
        by_threshold.is_usual,
        by_threshold.assessor,
        by_threshold.query_id,
        by_threshold.item_id,
        by_threshold.gold_sha256,
        coalesce(
            sum(by_threshold.n_non_relevant) filter (where by_threshold.grade >= levels.level), 0
        ) as n_hits,
        coalesce(sum(by_threshold.n_non_relevant), 0) as n_non_relevant,
        coalesce(
            sum(by_threshold.n_relevant) filter (where by_threshold.grade >= levels.level), 0
        ) as n_relevant_hits,
        coalesce(sum(by_threshold.n_relevant), 0) as n_relevant
    from by_threshold
    cross join {{ ref('evaluation_levels') }} as levels
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    cast(hits.tau as integer) as tau,
    cast(hits.below as integer) as below,
    hits.is_usual,
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
inner join {{ ref('grader_items') }} as grader_items
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
    hits.below asc,
    hits.assessor asc,
    grader_items.query_id asc,
    grader_items.item_id asc
