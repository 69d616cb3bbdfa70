{{ config(
    materialized='parts',
    inputs='int_label_set_inputs',
    part_key="collection || '/' || label_set",
    post_hook=point_latest_here('leaderboard')
) }}

with

stale_label_sets as (
    select * from {{ ref('int_label_set_inputs') }}
    {{ only_stale_parts() }}
),

topic_scores as (
    select * from {{ ref('topic_scores') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

labels as (
    select labels.*
    from {{ ref('int_labels') }} as labels
    semi join stale_label_sets
        on
            labels.collection = stale_label_sets.collection
            and labels.label_set = stale_label_sets.label_set
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
    select label_sets.*
    from {{ ref('int_label_sets') }} as label_sets
    semi join stale_label_sets
        on
            label_sets.collection = stale_label_sets.collection
            and label_sets.label_set = stale_label_sets.label_set
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
    inner join grader_items
        on
            label_sets.collection = grader_items.collection
            and label_sets.grader = grader_items.grader
            and label_sets.rubric_version = grader_items.rubric_version
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
    inner join measured_queries on systems.collection = measured_queries.collection
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
    left join topic_scores
        on
            expected_scores.collection = topic_scores.collection
            and expected_scores.label_set = topic_scores.label_set
            and expected_scores.level = topic_scores.level
            and expected_scores.system = topic_scores.system
            and expected_scores.measure = topic_scores.measure
            and expected_scores.query_id = topic_scores.query_id
    group by all
),

unlabelled_entries as (
    select
        ranked_entries.collection,
        label_set_queries.label_set,
        ranked_entries.system,
        ranked_entries.rank
    from ranked_entries
    inner join label_set_queries
        on
            ranked_entries.collection = label_set_queries.collection
            and ranked_entries.query_id = label_set_queries.query_id
    anti join labels
        on
            ranked_entries.collection = labels.collection
            and ranked_entries.query_id = labels.query_id
            and ranked_entries.passage_id = labels.passage_id
            and label_set_queries.label_set = labels.label_set
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
inner join grid on means.measure = grid.measure
left join unlabelled_at_k
    on
        means.collection = unlabelled_at_k.collection
        and means.label_set = unlabelled_at_k.label_set
        and means.system = unlabelled_at_k.system
        and means.measure = unlabelled_at_k.measure
left join means as covers
    on
        means.collection = covers.collection
        and means.label_set = covers.label_set
        and means.level = covers.level
        and means.system = covers.system
        and covers.measure = 'Cover@' || grid.cutoff
