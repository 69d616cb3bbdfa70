{{ config(materialized='parts', inputs='int_rubric_rankings', in_order_of='query_id') }}

-- An item is answered by a grade of tau or more. For Cover it counts once; for alpha-nDCG (Clarke
-- et al. 2008, alpha = 0.5) answering it again is worth half of the time before.
with

stale_rankings as (
    select * from {{ ref('int_rubric_rankings') }}
),

levels as (
    select level as tau from {{ ref('evaluation_levels') }}
),

cutoffs as (
    select distinct cutoff as k
    from {{ ref('measures') }}
    where kind = 'rubric'
),

top_entries as (
    select * from {{ ref('int_ranked_entries') }}
    semi join stale_rankings using (collection, system, query_id)
    where rank <= (select max(cutoffs.k) from cutoffs)
),

variants as (
    select distinct * exclude (part, system)
    from stale_rankings
),

items as (
    select
        variants.variant,
        grader_items.collection,
        grader_items.grader_id,
        grader_items.query_id,
        grader_items.item_id,
        grader_items.gold_sha256,
        -- a whole number for each item: much faster to sort by than strings
        dense_rank() over (order by grader_items.item_id) as item_no,
        grader_items.weight,
        {{ each_scope('grader_items.facet_ids') }} as facet_id
    from variants
    inner join {{ ref('grader_items') }} as grader_items
        using (collection, grader_id, rubric_version, query_id)
),

-- where in each ranking an item is answered
item_ranks as (
    select
        items.variant,
        top_entries.system,
        levels.tau,
        items.item_no,
        items.facet_id,
        items.weight,
        list_sort(list(top_entries.rank)) as ranks
    from {{ ref('int_item_grades') }} as item_grades
    inner join items using (collection, grader_id, query_id, item_id)
    inner join top_entries using (collection, query_id, passage_id)
    inner join levels on item_grades.grade >= levels.tau
    where item_grades.gold_sha256 is not distinct from items.gold_sha256
    group by all
),

item_gains as (
    select
        item_ranks.*,
        cutoffs.k,
        list_sum([
            pow(0.5, nth - 1) / log2(rank + 1)
            for rank, nth in list_filter(item_ranks.ranks, lambda rank: rank <= cutoffs.k)
        ]) as gain
    from item_ranks
    inner join cutoffs on item_ranks.ranks[1] <= cutoffs.k
),

-- sums of fractions depend on their order, so it is fixed
covered_items as (
    select
        variant,
        system,
        tau,
        k,
        facet_id,
        list_sort(list({ 'item_no': item_no, 'weight': weight, 'gain': gain })) as covered
    from item_gains
    group by all
)

select
    stale_rankings.part,
    stale_rankings.variant,
    stale_rankings.system,
    levels.tau,
    cutoffs.k,
    covered_items.facet_id,
    coalesce(len(covered_items.covered), 0) as n_covered,
    coalesce(list_sum([item.weight for item in covered_items.covered]), 0) as covered_weight,
    coalesce(list_sum([item.gain for item in covered_items.covered]), 0) as gain
from stale_rankings
cross join levels
cross join cutoffs
left join covered_items using (variant, system, tau, k)
