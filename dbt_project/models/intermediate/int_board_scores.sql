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

board_queries as (
    select * from {{ ref('int_board_queries') }}
    semi join stale_systems using (collection, label_set)
),

label_set_queries as (
    select * from board_queries
    where averaged_over = 'labels'
),

labels as (
    select * from {{ ref('int_labels') }}
    semi join stale_systems using (collection, label_set)
),

grid as (
    select * from {{ ref('int_measures') }}
),

scored as (
    select
        topic_scores.*,
        grid.averaged_over,
        weights.weight,
        weights.cluster
    from topic_scores
    inner join grid using (measure)
    left join {{ ref('int_query_weights') }} as weights using (collection, query_id)
    where coalesce(weights.weight, 1) > 0
),

-- every system meets every query; one it left unanswered counts 0 (trec_eval -c)
cells as (
    select
        stale_systems.part,
        stale_systems.collection,
        stale_systems.label_set,
        grid.averaged_over,
        levels.level,
        stale_systems.system,
        grid.measure
    from stale_systems
    inner join grid on grid.averaged_over in ('labels', 'rubric')
    cross join {{ ref('evaluation_levels') }} as levels
),

{{ board_means(['collection', 'label_set', 'averaged_over']) }},

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
    means.* exclude (averaged_over, weight),
    case when grid.cutoff is not null then coalesce(unlabelled_at_k.n_unlabelled, 0) end
        as n_unlabelled_at_k,
    cast(entries_at_k.n_entries as bigint) as n_entries_at_k
from means
inner join grid using (measure)
left join unlabelled_at_k using (collection, label_set, system, measure)
left join entries_at_k using (collection, label_set, system, measure)
