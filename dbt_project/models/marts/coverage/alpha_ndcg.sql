{{ config(
    materialized='parts',
    inputs='int_rubric_inputs',
    part_key="collection || '/' || grader || '/v' || rubric_version"
) }}

-- alpha-nDCG@k (Clarke et al. 2008) with alpha = 0.5: the items that a passage answers with a grade
-- of tau or more are its intents, and answering one again is worth half of the time before.
with

grader_items as (
    {{ rows_of_stale_parts(
        ref('int_grader_items'), ref('int_rubric_inputs'), 'collection, grader_id, rubric_version'
    ) }}
),

item_ranks as (
    select * from {{ ref('int_item_ranks') }}
),

ideal_gains as (
    select * from {{ ref('int_ideal_gains') }}
),

systems as (
    select * from {{ ref('stg_systems') }}
),

grid as (
    select * from {{ ref('int_measures') }}
),

levels as (
    select level as tau from {{ ref('evaluation_levels') }}
),

ranked_entries as (
    select * from {{ ref('int_ranked_entries') }}
),

answered as (
    select distinct
        collection,
        system,
        query_id
    from ranked_entries
),

cutoffs as (
    select distinct cutoff as k
    from grid
    where family = 'alpha-nDCG'
),

rubrics as (
    select distinct
        collection,
        grader_id,
        grader,
        rubric_version,
        query_id
    from grader_items
),

item_gains as (
    select
        item_ranks.collection,
        item_ranks.grader_id,
        item_ranks.system,
        item_ranks.query_id,
        item_ranks.item_id,
        item_ranks.tau,
        cutoffs.k,
        list_sum([
            pow(0.5, nth - 1) / log2(rank + 1)
            for rank, nth in item_ranks.ranks
            if rank <= cutoffs.k
        ]) as gain
    from item_ranks
    cross join cutoffs
),

gains as (
    select
        grader_items.collection,
        grader_items.grader_id,
        grader_items.rubric_version,
        item_gains.tau,
        item_gains.k,
        item_gains.system,
        grader_items.query_id,
        sum(item_gains.gain order by grader_items.item_id) as gain
    from item_gains
    inner join grader_items using (collection, grader_id, query_id, item_id)
    group by all
)

select
    rubrics.collection,
    rubrics.grader,
    rubrics.rubric_version,
    cast(levels.tau as integer) as tau,
    cutoffs.k,
    systems.system,
    rubrics.query_id,
    answered.query_id is not null as is_answered,
    round(coalesce(gains.gain / ideal_gains.gain, 0), 10) as alpha_ndcg
from rubrics
inner join systems using (collection)
cross join levels
cross join cutoffs
left join gains using (collection, grader_id, rubric_version, query_id, tau, k, system)
left join ideal_gains using (collection, grader_id, rubric_version, query_id, tau, k)
left join answered using (collection, query_id, system)
