-- Every row of seeds/ensembles.csv that cannot be applied, and why.
with

graders as (
    select * from {{ ref('int_own_graders') }}
),

members as (
    select
        ensembles.ensemble,
        ensembles.rule,
        ensembles.grader,
        ensembles.mapping,
        graders.grader_id,
        graders.target,
        concat_ws(
            ' ',
            graders.target,
            graders.kind,
            graders.needs_gold_answers,
            graders.scale_min,
            graders.scale_max
        ) as scale
    from {{ file_rows() }} as ensembles
    left join {{ ref('int_trials') }} as trials
        on {{ is_member('ensembles.grader', 'trials.grader', 'trials.first_trial') }}
    left join graders on trials.grader_id = graders.grader_id
)

select
    coalesce(ensemble, '(no name)') || ', ' || coalesce(grader, '(no grader)') as bad_row,
    case
        {{ name_is_wrong('ensemble') }}
        when ensemble in (select graders.grader from graders)
            then 'there is a grader of that name'
        when
            coalesce(rule, '')
            not in ('majority', 'median', 'mean_expected', 'calibrated', 'sum', 'sum_missing_as_0')
            then
                'rule must be majority, median, mean_expected, calibrated, sum or sum_missing_as_0'
        when grader is null then 'no grader is named'
        when grader_id is null then 'no grader of that name has graded anything'
        when count(*) over (partition by ensemble, grader_id) > 1 then 'listed twice'
        when rule = 'calibrated' and target != 'direct'
            then 'people judge whole passages, so only direct judges can be calibrated by them'
        -- of several trials, the first may be all there is by now
        when
            count(*) over (partition by ensemble) = 1
            and not ends_with(grader, '.all')
            and rule != 'calibrated'
            then 'one grader is no ensemble'
        when count(distinct rule) over (partition by ensemble) > 1
            then 'its rows name several rules'
        when
            count(distinct coalesce(mapping, '')) over (partition by ensemble) > 1
            then 'its rows name several mappings'
        {{ mapping_is_wrong() }}
        when count(distinct scale) over (partition by ensemble) > 1
            then 'its members ask about different things, or grade on different scales'
    end as problem
from members
qualify problem is not null
