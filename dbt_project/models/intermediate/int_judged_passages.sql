-- Whatever the rubric makes of the grades: its edits do not come this way.
with

judgments as (
    select * from {{ ref('stg_judgments') }}
),

grades as (
    select * from {{ ref('stg_grades') }}
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
