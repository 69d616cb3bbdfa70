-- What is wrong in seeds/click_bins.csv.
with

bins as (
    select
        concat_ws(',', least_coec, label, least_expected) as cell,
        try_cast(least_coec as double) as least_coec,
        try_cast(label as integer) as label,
        try_cast(least_expected as double) as least_expected,
        count(*) over (partition by least_coec) as n_listed
    from {{ file_rows() }}
)

select
    cell as bad_row,
    'a ratio of 0 or more, listed once; a label of 0 or more; expected clicks above 0' as problem
from bins
where
    not coalesce(least_coec >= 0 and label >= 0 and least_expected > 0, false)
    or n_listed > 1
