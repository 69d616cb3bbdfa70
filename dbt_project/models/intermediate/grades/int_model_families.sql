with

models as (
    select model from {{ ref('int_own_graders') }}
    union
    select grader as model from {{ ref('int_own_graders') }}
    union
    select group_name as model from {{ source('raw', 'system_groups') }}
    where grouping in ('generator', 'judge')
)

-- the pattern that ends last
select
    models.model,
    max_by(
        families.family,
        (
            length(regexp_extract(lower(models.model), '^.*(?:' || families.pattern || ')')),
            families.family
        )
    ) as family
from models
inner join {{ ref('model_families') }} as families
    on regexp_matches(lower(models.model), families.pattern)
group by models.model
