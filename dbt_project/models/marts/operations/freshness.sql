{{ config(materialized='view') }}

with

collections as (
    select * from {{ source('raw', 'collections') }}
),

runs as (
    select * from {{ source('raw', 'pipeline_runs') }}
),

grading_runs as (
    select * from {{ source('raw', 'grading_runs') }}
),

backlog as (
    select * from {{ ref('grading_backlog') }}
),

rubric_versions as (
    select * from {{ ref('rubric_versions') }}
),

graders as (
    select * from {{ ref('int_graders') }}
),

-- `ingest COLLECTION`, `import KIND COLLECTION ...`
inputs as (
    select
        case
            when starts_with(command, 'ingest ') then split_part(command, ' ', 2)
            when starts_with(command, 'import ') then split_part(command, ' ', 3)
        end as collection,
        max(finished_at) as last_input_at
    from runs
    group by all
),

graded as (
    select
        collection,
        max(finished_at) as last_graded_at
    from grading_runs
    group by collection
),

releases as (
    select
        arg_max(json_extract_string(counts, '$.release'), finished_at) as last_release,
        max(finished_at) as last_released_at
    from runs
    where
        command = 'build'
        and json_extract_string(counts, '$.release') is not null
),

-- what the newest grader of each name misses in the newest version of the rubric
missing as (
    select
        backlog.collection,
        count(*) as n_missing
    from backlog
    inner join graders using (grader)
    left join rubric_versions using (collection, rubric_version)
    where
        graders.grader = graders.name
        and (backlog.item_id = '' or rubric_versions.is_newest)
    group by backlog.collection
)

select
    collections.collection,
    inputs.last_input_at,
    graded.last_graded_at,
    releases.last_release,
    releases.last_released_at,
    coalesce(missing.n_missing, 0) as n_missing,
    coalesce(
        greatest(inputs.last_input_at, graded.last_graded_at) > releases.last_released_at,
        releases.last_released_at is null
    ) as needs_build
from collections
cross join releases
left join inputs using (collection)
left join graded using (collection)
left join missing using (collection)
