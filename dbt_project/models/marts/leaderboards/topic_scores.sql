{{ config(
    materialized='parts',
    inputs='int_label_set_inputs',
    part_key="collection || '/' || label_set"
) }}

-- Every measure but Cover and alpha-nDCG equals trec_eval's, cell by cell. A ranking is one
-- system's answer to one query; only rankings of queries that the label set has labels for are
-- scored.
with

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

labels as (
    {{ rows_of_stale_parts(
        ref('int_labels'), ref('int_label_set_inputs'), 'collection, label_set'
    ) }}
),

measures as (
    select
        measure,
        family,
        kind,
        coalesce(cutoff, 2147483647) as k,
        p
    from {{ ref('int_measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

label_sets as (
    {{ rows_of_stale_parts(
        ref('int_label_sets'), ref('int_label_set_inputs'), 'collection, label_set'
    ) }}
),

rubric_coverage as (
    select * from {{ ref('rubric_coverage') }}
),

alpha_ndcg as (
    select * from {{ ref('alpha_ndcg') }}
),

-- for graded measures: what an ideal ranking gains at each rank, and the label set's top label
label_set_queries as (
    select
        collection,
        label_set,
        query_id,
        list_reverse_sort(list(label) filter (where label > 0)) as ideal_gains,
        greatest(max(max(label)) over (partition by collection, label_set), 4) as top_label
    from labels
    group by collection, label_set, query_id
),

relevant_per_query as (
    select
        labels.collection,
        labels.label_set,
        labels.query_id,
        levels.level,
        nullif(count(*) filter (where labels.label >= levels.level), 0) as n_relevant,
        count(*) filter (where labels.label < levels.level) as n_nonrelevant
    from labels
    cross join levels
    group by all
),

-- per ranking, the labelled passages in it, best first
labelled_rankings as (
    select
        ranked_entries.collection,
        labels.label_set,
        ranked_entries.system,
        ranked_entries.query_id,
        list_sort(list({ 'rank': ranked_entries.rank, 'label': labels.label })) as hits
    from ranked_entries
    inner join labels using (collection, query_id, passage_id)
    group by all
),

answered as (
    select
        collection,
        system,
        query_id,
        max(rank) as n_retrieved
    from ranked_entries
    group by all
),

-- every answered query, also when none of its passages has a label
rankings as (
    select
        answered.collection,
        label_set_queries.label_set,
        answered.system,
        answered.query_id,
        answered.n_retrieved,
        label_set_queries.ideal_gains,
        label_set_queries.top_label,
        coalesce(labelled_rankings.hits, []) as hits
    from answered
    inner join label_set_queries using (collection, query_id)
    left join labelled_rankings using (collection, system, query_id, label_set)
),

-- binary measures see only which ranks hold a passage at or above the level
relevant_ranks as (
    select
        rankings.collection,
        rankings.label_set,
        relevant_per_query.level,
        rankings.system,
        rankings.query_id,
        rankings.n_retrieved,
        relevant_per_query.n_relevant,
        relevant_per_query.n_nonrelevant,
        [hit.rank for hit in rankings.hits if hit.label >= relevant_per_query.level] as ranks,
        [nth for hit, nth in rankings.hits if hit.label >= relevant_per_query.level] as places
    from rankings
    inner join relevant_per_query using (collection, label_set, query_id)
),

binary_scores as (
    select
        collection,
        label_set,
        level,
        system,
        query_id,
        measure,
        {{ measure_value(['binary']) }} as value
    from relevant_ranks
    inner join measures on measures.kind = 'binary'
),

-- graded measures take the label as the gain, whatever the level; a negative one gains nothing
graded_scores as (
    select
        collection,
        label_set,
        system,
        query_id,
        measure,
        {{ measure_value(['graded', 'labelled']) }} as value
    from rankings
    inner join measures on measures.kind in ('graded', 'labelled')
),

-- coverage sees the grades, not the label made of them: it repeats under every policy
rubric_scores as (
    select
        label_sets.collection,
        label_sets.label_set,
        rubric_coverage.tau as level,
        rubric_coverage.system,
        rubric_coverage.query_id,
        'Cover@' || rubric_coverage.k as measure,
        rubric_coverage.cover as value
    from rubric_coverage
    inner join label_sets using (collection, grader, rubric_version)
    where rubric_coverage.is_answered
    union all
    select
        label_sets.collection,
        label_sets.label_set,
        alpha_ndcg.tau as level,
        alpha_ndcg.system,
        alpha_ndcg.query_id,
        'alpha-nDCG@' || alpha_ndcg.k as measure,
        alpha_ndcg.alpha_ndcg as value
    from alpha_ndcg
    inner join label_sets using (collection, grader, rubric_version)
    where alpha_ndcg.is_answered
),

-- as trec_eval prints them: the graded measures repeat at every level
scores as (
    select * from binary_scores
    union all by name
    select
        graded_scores.*,
        levels.level
    from graded_scores
    cross join levels
    union all by name
    select * from rubric_scores
)

-- rounded, because parallel sums differ in the last bits from build to build; a measure without
-- anything relevant to find is 0, as in trec_eval
select
    collection,
    label_set,
    cast(level as integer) as level,
    system,
    query_id,
    measure,
    round(coalesce(value, 0), 10) as value
from scores
