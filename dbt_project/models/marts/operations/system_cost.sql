with

used as (
    {{ used_by_graders('passage_id') }}
),

passage_costs as (
    select
        used.collection,
        used.grader,
        used.query_id,
        used.passage_id,
        used.n_pairs,
        {{ cost_of_tokens('used') }} as cost,
        prices.currency
    from used
    asof left join {{ ref('int_prices') }} as prices
        on
            used.model = prices.model
            and used.day >= prices.from_date
),

ranked as (
    select
        collection,
        system,
        query_id,
        passage_id,
        count(*) over (partition by collection, query_id, passage_id) as n_systems
    from {{ ref('int_rankings') }}
)

select
    collection,
    passage_costs.grader,
    ranked.system,
    cast(sum(passage_costs.n_pairs) as bigint) as n_pairs,
    cast(
        coalesce(sum(passage_costs.n_pairs) filter (where ranked.n_systems = 1), 0) as bigint
    ) as n_pairs_alone,
    case
        when bool_and(passage_costs.cost is not null) then round(sum(passage_costs.cost), 10)
    end as cost,
    case
        when bool_and(passage_costs.cost is not null)
            then
                round(coalesce(sum(passage_costs.cost) filter (where ranked.n_systems = 1), 0), 10)
    end as cost_alone,
    any_value(passage_costs.currency) as currency
from ranked
inner join passage_costs using (collection, query_id, passage_id)
group by all
