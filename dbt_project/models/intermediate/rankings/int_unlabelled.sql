{{ config(materialized='parts', inputs='int_labelled_rankings', in_order_of='query_id') }}

with

cutoffs as (
    select distinct cutoff as k
    from {{ ref('measures') }}
    where cutoff is not null
),

labels as (
    select * from {{ ref('int_labels') }}
    semi join {{ ref('int_labelled_rankings') }} using (collection, label_set, query_id)
),

unlabelled as (
    select
        stale_rankings.part,
        list_sort(list(ranked_entries.rank)) as ranks
    from {{ ref('int_ranked_entries') }} as ranked_entries
    inner join {{ ref('int_labelled_rankings') }} as stale_rankings
        using (collection, system, query_id)
    anti join labels using (collection, label_set, query_id, passage_id)
    where ranked_entries.rank <= (select max(cutoffs.k) from cutoffs)
    group by all
)

select
    stale_rankings.part,
    stale_rankings.variant,
    stale_rankings.system,
    cutoffs.k,
    least(stale_rankings.n_retrieved, cutoffs.k) as n_entries,
    coalesce(len({{ ranks_to('cutoffs.k') }}), 0) as n_unlabelled
from {{ ref('int_labelled_rankings') }} as stale_rankings
cross join cutoffs
left join unlabelled using (part)
