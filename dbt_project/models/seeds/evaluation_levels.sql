-- What is wrong in seeds/evaluation_levels.csv.
select
    coalesce(cast(level as varchar), '(empty)') as bad_row,
    'a level is 1 or more and listed once' as problem
from {{ file_rows() }}
group by level
having level is null or level < 1 or count(*) > 1
