-- What is wrong in seeds/evaluation_completeness.csv.
with

shares as (
    select
        cast(least_labelled as varchar) as cell,
        try_cast(least_labelled as double) as least_labelled
    from {{ file_rows() }}
)

select
    coalesce(string_agg(cell, ', '), '(empty)') as bad_row,
    'one row is needed, a share from 0 to 1' as problem
from shares
having
    count(*) != 1
    or not coalesce(any_value(least_labelled) between 0 and 1, false)
