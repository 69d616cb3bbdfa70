-- named, because DuckDB cannot look into a view from within `exists`
with

items as (
    select * from {{ ref('wanted_items') }}
),

asked as (
    select
        collection,
        grader_id,
        query_id,
        passage_id,
        item_id,
        count(*) as n_times
    from {{ source('raw', 'replies') }}
    where purpose = 'grade'
    group by all
)

select
    grades.collection,
    graders.grader,
    grades.query_id,
    grades.passage_id,
    grades.item_id,
    grades.failure,
    grades.error,
    grades.response,
    grades.run_id,
    grades.graded_at,
    coalesce(asked.n_times, 0) as n_asked
from {{ ref('int_grades') }} as grades
inner join {{ ref('graders') }} as graders using (grader_id)
left join asked using (collection, grader_id, query_id, passage_id, item_id)
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
