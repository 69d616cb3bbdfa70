-- What is wrong in seeds/model_families.csv.
with

families as (
    select
        family,
        pattern,
        count(*) over (partition by family) as n_listed,
        pattern is not null and try(regexp_matches('', pattern)) is not null as is_pattern
    from {{ file_rows() }}
)

select
    concat_ws(',', family, pattern) as bad_row,
    'a family, listed once, and a regular expression' as problem
from families
where
    family is null
    or n_listed > 1
    or not is_pattern
