-- What is wrong in seeds/evaluation_battles.csv.
with

rules as (
    select
        orders,
        seed,
        concat_ws(',', opponents, orders, seed) as cells,
        try_cast(opponents as integer) as opponents
    from {{ file_rows() }}
)

select
    coalesce(string_agg(cells, '; '), '(empty)') as bad_row,
    case
        when count(*) != 1 or count(seed) = 0 then 'one row is needed, with a seed'
        when not coalesce(bool_and(opponents >= 2 and opponents % 2 = 0), false)
            then 'opponents must be an even number, 2 or more'
        when not coalesce(bool_and(orders in ('1', '2')), false)
            then 'orders must be 2 (each answer stands first once) or 1 (the order is drawn)'
    end as problem
from rules
having problem is not null
