-- Which systems share a model, or its family, with the judge that labelled their passages?
with

families as (
    select * from {{ ref('int_model_families') }}
),

-- of an ensemble its members; of labels whose model nobody knows, what the judge is called may tell
members as (
    select
        label_sets.collection,
        label_sets.label_set,
        regexp_extract(graders.model, '[^/]+$') as model,  -- without an owner or folder
        coalesce(of_models.family, of_names.family) as family
    from {{ ref('label_sets') }} as label_sets
    left join {{ ref('int_ensembles') }} as ensembles
        on
            label_sets.label_set = 'judge:' || ensembles.ensemble
            or label_sets.grader = ensembles.ensemble
    inner join {{ ref('int_own_graders') }} as graders
        on graders.grader = coalesce(
            ensembles.grader,
            label_sets.grader,
            regexp_extract(label_sets.label_set, '^judge:(.*)$', 1)
        )
    left join families as of_models on graders.model = of_models.model
    left join families as of_names on graders.name = of_names.model
),

judges as (
    select
        collection,
        label_set,
        list(distinct model) as models,
        list(distinct family) filter (where family is not null) as families
    from members
    group by all
),

systems as (
    select
        collection,
        system,
        max(group_name) filter (where grouping = 'generator') as generator,
        max(group_name) filter (where grouping = 'judge') as judge_in_use
    from {{ source('raw', 'system_groups') }}
    where grouping in ('generator', 'judge')
    group by all
),

related as (
    select
        judges.*,
        systems.system,
        array_to_string(list_sort(judges.families), ', ') as judge_family,
        systems.generator,
        of_generators.family as generator_family,
        systems.judge_in_use,
        of_judges.family as judge_in_use_family,
        list_contains(judges.models, systems.generator)
        or list_contains(judges.families, of_generators.family) as shares_generator,
        list_contains(judges.models, systems.judge_in_use)
        or list_contains(judges.families, of_judges.family) as shares_judge
    from judges
    inner join systems using (collection)
    left join families as of_generators on systems.generator = of_generators.model
    left join families as of_judges on systems.judge_in_use = of_judges.model
)

select
    * exclude (models, families),
    nullif(
        concat_ws(
            ', ',
            case when shares_generator then 'generator' end,
            case when shares_judge then 'judge' end
        ),
        ''
    ) as circle
from related
