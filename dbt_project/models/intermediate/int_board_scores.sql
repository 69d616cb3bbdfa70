{{ config(materialized='parts', inputs='int_board_systems') }}

with

stale_systems as (
    select * from {{ ref('int_board_systems') }}
),

topic_scores as (
    select * from {{ ref('topic_scores') }}
    semi join stale_systems using (collection, label_set, system)
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
    semi join stale_systems using (collection, system)
),

label_set_queries as (
    select * from {{ ref('int_label_variants') }}
    semi join stale_systems using (collection, label_set)
),

labels as (
    select * from {{ ref('int_labels') }}
    semi join stale_systems using (collection, label_set)
),

grid as (
    select * from {{ ref('int_measures') }}
),

-- labels are there for the queries that were judged, coverage for those that have rubric items
query_counts as (
    select
        collection,
        label_set,
        false as is_of_rubric,
        count(*) as n_queries
    from label_set_queries
    group by all
    union all
    select
        label_sets.collection,
        label_sets.label_set,
        true as is_of_rubric,
        count(distinct grader_items.query_id) as n_queries
    from (select distinct
        collection,
        label_set,
        grader,
        rubric_version
    from stale_systems) as label_sets
    inner join {{ ref('int_grader_items') }} as grader_items
        using (collection, grader, rubric_version)
    group by all
),

-- every system meets every query; one it left unanswered counts 0 (trec_eval -c)
expected_scores as (
    select
        stale_systems.part,
        stale_systems.collection,
        stale_systems.label_set,
        levels.level,
        stale_systems.system,
        grid.measure,
        query_counts.n_queries
    from stale_systems
    inner join query_counts using (collection, label_set)
    inner join grid
        on query_counts.is_of_rubric = (grid.kind = 'rubric')
    cross join {{ ref('evaluation_levels') }} as levels
    where grid.kind in ('binary', 'graded', 'labelled', 'rubric')
),

-- as decimals, sums are exact: they do not depend on which thread adds first
sums as (
    select
        collection,
        label_set,
        level,
        system,
        measure,
        cast(sum(cast(value as decimal(11, 10))) as decimal(18, 10)) as total,
        sum(cast(value as decimal(11, 10)) * cast(value as decimal(11, 10))) as squares,
        count(*) as n_answered
    from topic_scores
    group by all
),

means as (
    select
        expected_scores.part,
        expected_scores.collection,
        expected_scores.label_set,
        expected_scores.level,
        expected_scores.system,
        expected_scores.measure,
        coalesce(sums.total, 0) / expected_scores.n_queries as score,
        sums.total / sums.n_answered as score_answered,
        sqrt(
            expected_scores.n_queries * coalesce(sums.squares, 0)
            - coalesce(sums.total * sums.total, 0)
        ) / (expected_scores.n_queries * sqrt(nullif(expected_scores.n_queries - 1, 0))) as stderr,
        expected_scores.n_queries,
        coalesce(sums.n_answered, 0) as n_answered
    from expected_scores
    left join sums using (collection, label_set, level, system, measure)
),

unlabelled_entries as (
    select
        ranked_entries.collection,
        stale_systems.label_set,
        ranked_entries.system,
        ranked_entries.rank
    from ranked_entries
    inner join stale_systems using (collection, system)
    semi join label_set_queries using (collection, label_set, query_id)
    anti join labels using (collection, query_id, passage_id, label_set)
),

unlabelled_at_k as (
    select
        unlabelled_entries.collection,
        unlabelled_entries.label_set,
        unlabelled_entries.system,
        grid.measure,
        count(*) as n_unlabelled
    from unlabelled_entries
    inner join grid on unlabelled_entries.rank <= grid.cutoff
    group by all
),

ranking_lengths as (
    select
        ranked_entries.collection,
        stale_systems.label_set,
        ranked_entries.system,
        max(ranked_entries.rank) as n_retrieved
    from ranked_entries
    inner join stale_systems using (collection, system)
    semi join label_set_queries using (collection, label_set, query_id)
    group by
        ranked_entries.collection,
        stale_systems.label_set,
        ranked_entries.system,
        ranked_entries.query_id
),

entries_at_k as (
    select
        ranking_lengths.collection,
        ranking_lengths.label_set,
        ranking_lengths.system,
        grid.measure,
        sum(least(ranking_lengths.n_retrieved, grid.cutoff)) as n_entries
    from ranking_lengths
    inner join grid on grid.cutoff is not null
    group by all
)

select
    means.part,
    means.collection,
    means.label_set,
    means.level,
    means.system,
    means.measure,
    round(means.score, 10) as score,
    round(means.score, 4) as score_4dp,
    round(means.score_answered, 10) as score_answered,
    round(means.stderr, 10) as stderr,
    means.n_queries,
    means.n_answered,
    case when grid.cutoff is not null then coalesce(unlabelled_at_k.n_unlabelled, 0) end
        as n_unlabelled_at_k,
    cast(entries_at_k.n_entries as bigint) as n_entries_at_k
from means
inner join grid using (measure)
left join unlabelled_at_k using (collection, label_set, system, measure)
left join entries_at_k using (collection, label_set, system, measure)
