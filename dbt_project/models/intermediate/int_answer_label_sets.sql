with

assigned as (
    select
        collection,
        grader,
        rubric_version,
        sum(n_nuggets) as n_wanted,
        sum(n_assigned) as n_graded
    from {{ ref('nugget_scores') }}
    group by all
    having sum(n_assigned) > 0
),

query_counts as (
    select
        collection,
        grader,
        rubric_version,
        count(distinct query_id) as n_queries
    from {{ ref('int_grader_items') }}
    where asks_about = 'answer'
    group by all
),

-- a query that something was retrieved for was met, though nobody said a word
queries_met as (
    select
        collection,
        query_id
    from {{ ref('stg_sentences') }}
    union
    select
        collection,
        query_id
    from {{ ref('stg_run_entries') }}
    semi join {{ source('raw', 'answers') }} using (collection, system)
),

met_counts as (
    select
        collection,
        count(*) as n_queries
    from queries_met
    group by all
)

select
    collection,
    grader || '/v' || rubric_version || '/nuggets' as label_set,
    'nuggets' as kind,
    grader,
    rubric_version,
    query_counts.n_queries,
    cast(assigned.n_wanted as bigint) as n_wanted,
    cast(assigned.n_graded as bigint) as n_graded
from assigned
inner join query_counts using (collection, grader, rubric_version)
union all
select
    collection,
    grader || '/' || citations || '_citation' as label_set,
    'support' as kind,
    grader,
    null as rubric_version,
    met_counts.n_queries,
    cast(sum(n_citations - n_missing) as bigint) as n_wanted,
    cast(sum(n_judged) as bigint) as n_graded
from {{ ref('support_scores') }}
inner join met_counts using (collection)
group by all
