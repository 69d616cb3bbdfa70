{{ config(tags=['seed']) }}

-- Every row of seeds/evaluation_grid.csv and evaluation_levels.csv that cannot be computed.
with

grid as (
    select * from {{ ref('evaluation_grid') }}
),

levels as (
    select * from {{ ref('evaluation_levels') }}
),

expected as (
    select
        measure,
        family,
        cutoff,
        case
            when family in ('AP', 'RR', 'Rprec') then family
            else family || '@' || cutoff
        end as expected_measure
    from grid
)

select
    'evaluation_grid.csv' as seed,
    measure as bad_row,
    'unknown family, or a measure that is not spelled family@cutoff' as problem
from expected
where
    family not in ('nDCG', 'AP', 'RR', 'Rprec', 'P', 'R', 'Judged', 'Cover', 'alpha-nDCG')
    or measure is distinct from expected_measure
    or (family in ('AP', 'RR', 'Rprec')) != (cutoff is null)
    or cutoff < 1
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
