-- Everything in the raw schema names queries, systems and graders that exist; models rely on it.
with

graders as (
    select * from {{ ref('stg_graders') }}
),

named_rankings as (
    select distinct
        collection,
        system,
        query_id
    from {{ ref('stg_run_entries') }}
),

named_queries as (
    select
        'run_entries' as raw_table,
        collection,
        query_id
    from named_rankings
    union
    select
        'judgments' as raw_table,
        collection,
        query_id
    from {{ ref('stg_judgments') }}
    union
    select
        'grades' as raw_table,
        collection,
        query_id
    from {{ ref('stg_grades') }}
)

select
    named_queries.raw_table,
    named_queries.collection,
    'query ' || named_queries.query_id as unknown_name
from named_queries
anti join {{ ref('stg_queries') }} using (collection, query_id)
union all
select distinct
    'run_entries' as raw_table,
    named_rankings.collection,
    'system ' || named_rankings.system as unknown_name
from named_rankings
anti join {{ ref('stg_systems') }} using (collection, system)
union all
select distinct
    'grades' as raw_table,
    grades.collection,
    'grader ' || grades.grader_id as unknown_name
from {{ ref('stg_grades') }} as grades
anti join graders using (grader_id)
union all
select distinct
    'grading_batches' as raw_table,
    batches.collection,
    'grader ' || batches.grader_id as unknown_name
from {{ ref('stg_grading_batches') }} as batches
anti join graders using (grader_id)
