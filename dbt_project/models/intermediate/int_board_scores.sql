{{ config(materialized='parts', inputs='int_board_systems') }}

with

stale_systems as (
    select * from {{ ref('int_board_systems') }}
),

topic_scores as (
    select * from {{ ref('topic_scores') }}
    semi join stale_systems using (collection, label_set, system)
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

-- no rank is left out, so that each counts as many rankings as are that long
entries_by_rank as (
    select
        stale_systems.collection,
        stale_systems.label_set,
        stale_systems.system,
        ranked_entries.rank,
        count(*) as n_entries,
        count(*) filter (where labels.passage_id is null) as n_unlabelled
    from {{ ref('int_ranked_entries') }} as ranked_entries
    inner join stale_systems using (collection, system)
    semi join label_set_queries using (collection, label_set, query_id)
    left join labels using (collection, query_id, passage_id, label_set)
    where ranked_entries.rank <= (select max(grid.cutoff) from grid)
    group by all
),

at_k as (
    select
        entries_by_rank.collection,
        entries_by_rank.label_set,
        entries_by_rank.system,
        grid.measure,
        cast(sum(entries_by_rank.n_entries) as bigint) as n_entries,
        cast(sum(entries_by_rank.n_unlabelled) as bigint) as n_unlabelled
    from entries_by_rank
    inner join grid on entries_by_rank.rank <= grid.cutoff
    group by all
)

select
    means.* exclude (averaged_over, weight),
    case when grid.cutoff is not null then coalesce(at_k.n_unlabelled, 0) end
        as n_unlabelled_at_k,
    at_k.n_entries as n_entries_at_k
from means
inner join grid using (measure)
left join at_k using (collection, label_set, system, measure)
