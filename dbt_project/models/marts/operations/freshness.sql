with

runs as (
    select * from {{ source('raw', 'pipeline_runs') }}
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
    from {{ source('raw', 'grading_runs') }}
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
    from {{ ref('grading_backlog') }} as backlog
    inner join {{ ref('graders') }} as graders using (grader)
    left join {{ ref('rubric_versions') }} as rubric_versions using (collection, rubric_version)
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
from {{ source('raw', 'collections') }} as collections
cross join releases
left join inputs using (collection)
left join graded using (collection)
left join missing using (collection)
