{{ config(materialized='view') }}

with

graders as (
    select * from {{ ref('int_graders') }}
),

wanted_grades as (
    select * from {{ ref('int_wanted_grades') }}
),

grades as (
    select * from {{ ref('int_grades') }}
)

select
    wanted_grades.collection,
    graders.grader,
    wanted_grades.rubric_version,
    wanted_grades.query_id,
    wanted_grades.passage_id,
    wanted_grades.item_id
from wanted_grades
inner join graders on wanted_grades.target = graders.target
anti join grades
    on
        wanted_grades.collection = grades.collection
        and wanted_grades.query_id = grades.query_id
        and wanted_grades.passage_id = grades.passage_id
        and wanted_grades.item_id = grades.item_id
        and graders.grader_id = grades.grader_id
-- neither can be asked
where graders.engine not in ('imported', 'ensemble')
