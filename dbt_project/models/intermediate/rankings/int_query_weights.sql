{{ config(materialized='table') }}

-- Collections whose queries all count alike have no rows: their sums stay exact.
with

counted as (
    select
        queries.collection,
        queries.query_id,
        coalesce(stated.weight, 1) as weight,
        coalesce('cluster ' || stated.cluster, 'query ' || queries.query_id) as cluster
    from {{ source('raw', 'queries') }} as queries
    left join {{ source('raw', 'query_weights') }} as stated using (collection, query_id)
),

uneven as (
    select
        collection,
        max(weight) as greatest_weight
    from counted
    group by collection
    having min(weight) < max(weight) or count(distinct cluster) < count(*)
)

select
    counted.collection,
    counted.query_id,
    counted.weight / uneven.greatest_weight as weight,
    counted.cluster
from counted
inner join uneven using (collection)
