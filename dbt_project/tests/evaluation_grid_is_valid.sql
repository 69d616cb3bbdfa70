{{ config(tags=['seed']) }}

-- Every row of seeds/evaluation_grid.csv and evaluation_levels.csv that cannot be computed.
with

grid as (
    select * from {{ ref('evaluation_grid') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

families as (
    {{ measure_families() }}
),

spellings as (
    select string_agg(spelling, ', ' order by place) as known
    from families
)

select
    'evaluation_grid.csv' as seed,
    coalesce(grid.measure, '(empty)') as bad_row,
    'there is no such measure; there are: ' || spellings.known as problem
from grid
cross join spellings
anti join families on regexp_full_match(grid.measure, families.pattern)
union all
select
    'evaluation_grid.csv' as seed,
    measure as bad_row,
    'listed twice' as problem
from grid
group by measure
having count(*) > 1
union all
select
    'evaluation_levels.csv' as seed,
    cast(level as varchar) as bad_row,
    'a level is 1 or more and listed once' as problem
from levels
group by level
having level is null or level < 1 or count(*) > 1
