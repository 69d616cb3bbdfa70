-- How much of each version of a rubric is graded. Counts per item suffice: a grade serves every
-- version that has the item.
with

-- what is looked into: the pool, or whole answers
looked_into as (
    select
        collection,
        query_id,
        passage_id,
        false as is_answer
    from {{ ref('pool') }}
    where text_sha256 is not null
    union all
    select distinct
        collection,
        query_id,
        passage_id,
        true as is_answer
    from {{ source('raw', 'answers') }}
),

counted_queries as (
    select
        collection,
        query_id,
        is_answer,
        count(*) as n_passages
    from looked_into
    group by all
),

graded as (
    select
        item_grades.collection,
        item_grades.grader_id,
        item_grades.query_id,
        item_grades.item_id,
        item_grades.gold_sha256,
        count(*) as n_graded
    from {{ ref('int_item_grades') }} as item_grades
    semi join looked_into using (collection, query_id, passage_id)
    group by all
)

select
    grader_items.collection,
    grader_items.grader,
    grader_items.rubric_version,
    grader_items.kind,
    grader_items.query_id,
    grader_items.item_id,
    coalesce(counted_queries.n_passages, 0) as n_wanted,
    coalesce(graded.n_graded, 0) as n_graded,
    coalesce(counted_queries.n_passages, 0) - coalesce(graded.n_graded, 0) as n_missing
from {{ ref('grader_items') }} as grader_items
left join {{ ref('judgment_kinds') }} as kinds on grader_items.asks_about = kinds.kind
left join counted_queries
    on
        grader_items.collection = counted_queries.collection
        and grader_items.query_id = counted_queries.query_id
        and coalesce(kinds.texts = 'answers', false) = counted_queries.is_answer
left join graded on {{ is_of_item('graded', 'grader_items') }}
