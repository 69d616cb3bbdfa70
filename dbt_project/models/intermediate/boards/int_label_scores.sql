{{ config(materialized='parts', inputs='int_labelled_rankings', in_order_of='query_id') }}

-- Every measure equals trec_eval's, cell by cell. A ranking is one system's answer to one query;
-- only rankings of queries that have labels are scored.
with

stale_rankings as (
    select * from {{ ref('int_labelled_rankings') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
    semi join stale_rankings using (collection, system, query_id)
),

stale_labels as (
    select distinct
        variant,
        collection,
        label_set,
        query_id
    from stale_rankings
),

labels as (
    select
        stale_labels.variant,
        labels.collection,
        labels.query_id,
        labels.passage_id,
        labels.label,
        coalesce(labels.gain, labels.label) as gain
    from {{ ref('int_labels') }} as labels
    inner join stale_labels using (collection, label_set, query_id)
),

measures as (
    select
        measure,
        family,
        kind,
        coalesce(cutoff, 2147483647) as k,
        p
    from {{ ref('measures') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

-- for graded measures: what an ideal ranking gains
ideal_rankings as (
    select
        variant,
        list_reverse_sort(list(gain) filter (where gain > 0)) as ideal_gains
    from labels
    group by variant
),

ideals as (
    select
        ideal_rankings.variant,
        measures.measure,
        {{ ideal_dcg() }} as ideal_gain
    from ideal_rankings
    inner join measures on measures.kind in ('graded', 'labelled')
),

relevant_per_query as (
    select
        labels.variant,
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
        labels.variant,
        ranked_entries.system,
        list_sort(
            list({ 'rank': ranked_entries.rank, 'label': labels.label, 'gain': labels.gain })
        ) as hits
    from ranked_entries
    inner join labels using (collection, query_id, passage_id)
    group by all
),

-- every answered query, also when none of its passages has a label
rankings as (
    select
        stale_rankings.part,
        stale_rankings.variant,
        stale_rankings.system,
        stale_rankings.n_retrieved,
        stale_rankings.top_label,
        coalesce(labelled_rankings.hits, []) as hits
    from stale_rankings
    left join labelled_rankings using (variant, system)
),

-- binary measures see only which ranks hold a passage at or above the level
relevant_ranks as (
    select
        rankings.part,
        rankings.variant,
        relevant_per_query.level,
        rankings.system,
        rankings.n_retrieved,
        relevant_per_query.n_relevant,
        relevant_per_query.n_nonrelevant,
        [
            hit.rank
            for hit in list_filter(
                rankings.hits, lambda hit: hit.label >= relevant_per_query.level
            )
        ] as ranks,
        -- no other measure asks for them
        if(
            (select bool_or(measures.family = 'bpref') from measures),
            [nth for hit, nth in rankings.hits if hit.label >= relevant_per_query.level],
            []
        ) as places
    from rankings
    inner join relevant_per_query using (variant)
),

binary_scores as (
    select
        part,
        variant,
        level,
        system,
        measure,
        {{ measure_value(['binary']) }} as value
    from relevant_ranks
    inner join measures on measures.kind = 'binary'
),

-- graded measures take the label, or its gain, whatever the level; a negative one gains nothing
graded_scores as (
    select
        part,
        variant,
        system,
        measure,
        {{ measure_value(['graded', 'labelled']) }} as value
    from rankings
    inner join ideals using (variant)
    inner join measures using (measure)
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
)

-- rounded, because parallel sums differ in the last bits from build to build; a measure without
-- anything relevant to find is 0, as in trec_eval
select
    * exclude (value),
    round(coalesce(value, 0), 10) as value
from scores
