-- What is wrong in seeds/evaluation_levels.csv.
with

levels as (
    select * from {{ file_rows() }}
)

select
    coalesce(cast(level as varchar), '(empty)') as bad_row,
    'a level is 1 or more and listed once' as problem
from levels
group by level
having level is null or level < 1 or count(*) > 1
