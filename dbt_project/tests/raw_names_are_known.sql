-- Everything in the raw schema names queries, systems and graders that exist; models rely on it.
with

named as (
    select distinct
        'run_entries' as raw_table,
        collection,
        query_id,
        system,
        cast(null as varchar) as grader_id
    from {{ ref('int_run_entries') }}
    union all by name
    select distinct
        'judgments' as raw_table,
        collection,
        query_id
    from {{ source('raw', 'judgments') }}
    union all by name
    select distinct
        'grades' as raw_table,
        collection,
        query_id,
        grader_id
    from {{ source('raw', 'grades') }}
    union all by name
    select distinct
        'grading_runs' as raw_table,
        collection,
        grader_id
    from {{ source('raw', 'grading_runs') }}
)

select
    raw_table,
    collection,
    'query ' || query_id as unknown_name
from named
anti join {{ ref('int_query_texts') }} using (collection, query_id)
where query_id is not null
union
select
    raw_table,
    collection,
    'system ' || system as unknown_name
from named
anti join {{ source('raw', 'systems') }} using (collection, system)
where system is not null
union
select
    raw_table,
    collection,
    'grader ' || grader_id as unknown_name
from named
anti join {{ ref('int_recorded_graders') }} using (grader_id)
where grader_id is not null
