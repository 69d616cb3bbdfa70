with

measures as (
    select
        grid.measure,
        families.family,
        families.kind,
        families.place as family_place,
        cast(nullif(regexp_extract(grid.measure, '@(\d+)$', 1), '') as integer) as cutoff,
        cast(nullif(regexp_extract(grid.measure, '=([\d.]+)', 1), '') as double) as p
    from {{ ref('evaluation_grid') }} as grid
    inner join {{ ref('int_measure_families') }} as families
        on regexp_full_match(grid.measure, families.pattern)
)

select
    * exclude (family_place),
    if(kind in ('binary', 'graded', 'labelled'), 'labels', kind) as averaged_over,
    row_number() over (order by family_place, cutoff nulls first, p) as place
from measures
