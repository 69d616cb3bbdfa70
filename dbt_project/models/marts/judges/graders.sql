with

scales as (
    select max(max_relevance) as max_relevance
    from {{ source('raw', 'collections') }}
),

ensemble_graders as (
    select
        ensemble_id as grader_id,
        ensemble as grader,
        ensemble as name,
        'ensemble' as engine,
        rule || ' of ' || string_agg(grader, ', ' order by grader) as model,
        any_value(target) as target,
        any_value(asks_about) as asks_about,
        any_value(kind) as kind,
        -- items that no majority of its members can grade are none of its
        2 * count(*) filter (where needs_gold_answers) >= count(*) as needs_gold_answers,
        min(answers_from) as answers_from,
        case
            when any_value(mapping) is not null
                then least(0, list_min(map_values(any_value(mapping))))
            when starts_with(rule, 'sum') then cast(sum(scale_min) as integer)
            when rule = 'calibrated' then 0
            else any_value(scale_min)
        end as scale_min,
        case
            when any_value(mapping) is not null then list_max(map_values(any_value(mapping)))
            when starts_with(rule, 'sum') then cast(sum(scale_max) as integer)
            -- people's scale, which collections may differ in
            when rule = 'calibrated' then any_value(scales.max_relevance)
            else any_value(scale_max)
        end as scale_max,
        rule = 'calibrated' and any_value(mapping) is null as is_on_judgments_scale,
        max(created_at) as created_at
    from {{ ref('int_ensembles') }}
    cross join scales
    group by
        ensemble_id,
        ensemble,
        rule
)

select * exclude (trial, trial_of) from {{ ref('int_own_graders') }}
union all by name
select * from ensemble_graders
