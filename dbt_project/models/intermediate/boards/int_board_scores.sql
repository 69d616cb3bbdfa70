{{ config(materialized='parts', inputs='int_board_systems') }}

with

stale_systems as (
    select * from {{ ref('int_board_systems') }}
),

board_queries as (
    select * from {{ ref('board_queries') }}
    semi join stale_systems using (collection, label_set)
),

grid as (
    select * from {{ ref('measures') }}
),

scored as (
    select
        stale_systems.part,
        topic_scores.level,
        topic_scores.measure,
        topic_scores.query_id,
        topic_scores.value,
        weights.weight,
        weights.cluster
    from {{ ref('topic_scores') }} as topic_scores
    inner join stale_systems using (collection, label_set, system)
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

{{ board_means(['collection', 'label_set', 'averaged_over'], ['part', 'level', 'measure']) }},

at_k as (
    select
        stale_systems.part,
        unlabelled.k,
        cast(sum(unlabelled.n_entries) as bigint) as n_entries,
        cast(sum(unlabelled.n_unlabelled) as bigint) as n_unlabelled
    from {{ ref('int_unlabelled') }} as unlabelled
    inner join {{ ref('int_label_variants') }} using (variant)
    inner join stale_systems using (collection, label_set, system)
    semi join board_queries using (collection, label_set, query_id)
    group by all
)

select
    means.* exclude (averaged_over, weight),
    case when grid.cutoff is not null then coalesce(at_k.n_unlabelled, 0) end
        as n_unlabelled_at_k,
    at_k.n_entries as n_entries_at_k
from means
inner join grid using (measure)
left join at_k
    on
        means.part = at_k.part
        and grid.cutoff = at_k.k
