-- Whatever the rubric makes of the grades: its edits do not come this way.
with

judgments as (
    select * from {{ source('raw', 'judgments') }}
),

grades as (
    select * from {{ source('raw', 'grades') }}
)

select
    collection,
    query_id,
    passage_id
from judgments
union
select
    collection,
    query_id,
    passage_id
from grades
