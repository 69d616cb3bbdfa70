-- Every row of seeds/evaluation_grid.csv that cannot be computed.
with

grid as (
    select * from {{ file_rows() }}
),

families as (
    {{ measure_families() }}
),

spellings as (
    select string_agg(spelling, ', ' order by place) as known
    from families
)

select
    coalesce(grid.measure, '(empty)') as bad_row,
    'there is no such measure; there are: ' || spellings.known as problem
from grid
cross join spellings
anti join families on regexp_full_match(grid.measure, families.pattern)
union all
select
    measure as bad_row,
    'listed twice' as problem
from grid
group by measure
having count(*) > 1
