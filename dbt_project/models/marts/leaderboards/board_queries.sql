-- Labels are there for the queries that were judged, coverage for those that have rubric items.
with

kinds as (
    select * from {{ ref('judgment_kinds') }}
),

-- a query that something was retrieved for was met, though nobody said a word
queries_met as (
    select
        collection,
        query_id
    from {{ ref('int_sentences') }}
    union
    select
        collection,
        query_id
    from {{ ref('int_run_entries') }}
    semi join {{ source('raw', 'answers') }} using (collection, system)
),

-- a score that a tool failed to give says nothing: means are over queries that have all
systems_scored as (
    select
        collection,
        label_set,
        measure,
        count(distinct system) as n_systems
    from {{ ref('int_brought_scores') }}
    group by all
),

scored_by_all as (
    select
        collection,
        label_set,
        measure,
        query_id
    from {{ ref('int_brought_scores') }}
    inner join systems_scored using (collection, label_set, measure)
    group by all
    having count(*) = any_value(n_systems)
),

averaged as (
    select
        collection,
        label_set,
        'labels' as averaged_over,
        query_id
    from {{ ref('int_label_variants') }}
    union all
    select distinct
        label_sets.collection,
        label_sets.label_set,
        coalesce(kinds.measures, label_sets.kind) as averaged_over,
        grader_items.query_id
    from {{ ref('label_sets') }} as label_sets
    inner join {{ ref('grader_items') }} as grader_items
        using (collection, grader, rubric_version)
    left join kinds on label_sets.kind = kinds.label_sets
    where
        label_sets.kind = 'rubric'
        or kinds.averaged_over = 'items'
        or (kinds.averaged_over = 'gaining items' and grader_items.weight > 0)
    union all
    select
        label_sets.collection,
        label_sets.label_set,
        kinds.measures as averaged_over,
        queries_met.query_id
    from {{ ref('label_sets') }} as label_sets
    inner join kinds on label_sets.kind = kinds.label_sets
    inner join queries_met using (collection)
    where kinds.averaged_over = 'queries met'
    union all
    select distinct
        scores.collection,
        scores.label_set,
        kinds.measures as averaged_over,
        scores.query_id
    from {{ ref('int_battle_scores') }} as scores
    inner join kinds on kinds.averaged_over = 'battles'
    union all
    select
        collection,
        label_set,
        'scores/' || measure as averaged_over,
        query_id
    from scored_by_all
)

select
    averaged.*,
    coalesce(weights.weight, 1) as weight,
    weights.cluster
from averaged
left join {{ ref('int_query_weights') }} as weights using (collection, query_id)
where coalesce(weights.weight, 1) > 0
