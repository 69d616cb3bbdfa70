{{ config(
    materialized='parts',
    inputs='int_label_set_inputs',
    part_key="collection || '/' || label_set",
    post_hook=point_latest_here('leaderboard')
) }}

with

topic_scores as (
    select * from {{ ref('topic_scores') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

labels as (
    {{ rows_of_stale_parts(
        ref('int_labels'), ref('int_label_set_inputs'), 'collection, label_set'
    ) }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

label_sets as (
    {{ rows_of_stale_parts(
        ref('int_label_sets'), ref('int_label_set_inputs'), 'collection, label_set'
    ) }}
),

grader_items as (
    select * from {{ ref('int_grader_items') }}
),

label_set_queries as (
    select distinct
        collection,
        label_set,
        query_id
    from labels
),

-- labels are there for the queries that were judged, coverage for those that have rubric items
measured_queries as (
    select
        *,
        false as is_of_rubric
    from label_set_queries
    union all
    select distinct
        label_sets.collection,
        label_sets.label_set,
        grader_items.query_id,
        true as is_of_rubric
    from label_sets
    inner join grader_items using (collection, grader, rubric_version)
),

-- every system meets every query; one it left unanswered counts 0 (trec_eval -c)
expected_scores as (
    select
        systems.collection,
        measured_queries.label_set,
        levels.level,
        systems.system,
        grid.measure,
        measured_queries.query_id
    from systems
    inner join measured_queries using (collection)
    inner join grid
        on measured_queries.is_of_rubric = (grid.kind = 'rubric')
    cross join levels
),

-- as decimals and in a fixed order, sums do not depend on which thread adds first
means as (
    select
        expected_scores.collection,
        expected_scores.label_set,
        expected_scores.level,
        expected_scores.system,
        expected_scores.measure,
        avg(coalesce(cast(topic_scores.value as decimal(11, 10)), 0)) as score,
        avg(cast(topic_scores.value as decimal(11, 10))) as score_answered,
        stddev_samp(coalesce(topic_scores.value, 0) order by expected_scores.query_id)
        / sqrt(count(*)) as stderr,
        count(*) as n_queries,
        count(topic_scores.value) as n_answered
    from expected_scores
    left join topic_scores using (collection, label_set, level, system, measure, query_id)
    group by all
),

unlabelled_entries as (
    select
        ranked_entries.collection,
        label_set_queries.label_set,
        ranked_entries.system,
        ranked_entries.rank
    from ranked_entries
    inner join label_set_queries using (collection, query_id)
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
)

select
    means.collection,
    means.label_set,
    means.level,
    means.system,
    means.measure,
    round(means.score, 10) as score,
    round(means.score, 4) as score_4dp,
    round(means.score_answered, 10) as score_answered,
    rank() over (
        partition by means.collection, means.label_set, means.level, means.measure
        order by round(means.score, 10) desc
    ) as rank,
    means.n_queries,
    means.n_answered,
    round(means.stderr, 10) as stderr,
    case when grid.cutoff is not null then coalesce(unlabelled_at_k.n_unlabelled, 0) end
        as n_unlabelled_at_k,
    round(covers.score, 10) as cover
from means
inner join grid using (measure)
left join unlabelled_at_k using (collection, label_set, system, measure)
left join means as covers
    on
        means.collection = covers.collection
        and means.label_set = covers.label_set
        and means.level = covers.level
        and means.system = covers.system
        and covers.measure = 'Cover@' || grid.cutoff
