{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

wanted_grades as (
    select * from {{ ref('wanted_grades') }}
),

grades as (
    select * from {{ ref('int_grades') }}
)

select
    collection,
    grader_id,
    graders.grader,
    graders.engine,
    wanted_grades.rubric_version,
    query_id,
    passage_id,
    item_id,
    case
        when grades.status is not null then grades.status
        when not wanted_grades.is_gradable then 'no text'
        else 'missing'
    end as status
from wanted_grades
inner join graders
    on
        wanted_grades.kind = graders.asks_about
        and wanted_grades.answers_from is not distinct from graders.answers_from
        and (wanted_grades.has_gold_answers or not graders.needs_gold_answers)
left join grades using (collection, grader_id, query_id, passage_id, item_id)
where grades.grade is null
