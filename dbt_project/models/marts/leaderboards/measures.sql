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
    union all by name
    select distinct
        measure,
        measure as family,
        'scores' as kind
    from {{ ref('int_brought_scores') }}
)

select
    * exclude (family_place),
    case
        when kind in ('binary', 'graded', 'labelled') then 'labels'
        when kind = 'scores' then 'scores/' || measure
        else kind
    end as averaged_over,
    row_number() over (order by family_place nulls last, cutoff nulls first, p, measure) as place
from measures
