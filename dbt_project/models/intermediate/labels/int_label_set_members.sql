-- What hybrids and panels are made of, in the order in which their members are asked.
select
    collection,
    'hybrid:' || hybrid as label_set,
    'first' as rule,
    2 as n_members,
    unnest([
        { 'member': 'assessor:' || assessor, 'mapping': null, 'place': 1 },
        { 'member': label_set, 'mapping': {{ mapping_as_map('mapping') }}, 'place': 2 }
    ], max_depth := 2)
from {{ ref('hybrids') }}
union all by name
select
    collection,
    'panel:' || panel as label_set,
    rule,
    len(assessors) as n_members,
    'assessor:' || unnest(assessors) as member,
    unnest(range(1, len(assessors) + 1)) as place
from (
    select * replace (regexp_split_to_array(trim(assessors), '\s+') as assessors)
    from {{ ref('panels') }}
)
