-- named, because DuckDB cannot look into a view from within `exists`
with

items as (
    select * from {{ ref('wanted_items') }}
)

select
    grades.collection,
    graders.grader,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    grades.error,
    grades.response,
    grades.run_id,
    grades.graded_at
from {{ ref('int_grades') }} as grades
inner join {{ ref('int_graders') }} as graders using (grader_id)
where
    grades.status = 'failed'
    -- what failed with gold answers that no version has any more is not asked again
    and (
        grades.gold_sha256 is null
        or exists (
            select 1
            from items
            where
                items.collection = grades.collection
                and items.query_id = grades.query_id
                and items.item_id = grades.item_id
                and items.gold_sha256 = grades.gold_sha256
        )
    )
order by
    grades.graded_at desc,
    grades.collection asc,
    graders.grader asc,
    grades.query_id asc,
    grades.passage_id asc,
    grades.item_id asc
