-- another rule, mapping or member is another ensemble, as with graders
select
    ensembles.ensemble,
    left(
        sha256(
            ensembles.ensemble || ' ' || ensembles.rule || ' '
            || coalesce(trim(ensembles.mapping) || ' ', '')
            || string_agg(graders.grader_id, ' ' order by graders.grader_id) over members_of_one
        ),
        16
    ) as ensemble_id,
    ensembles.rule,
    {{ mapping_as_map('ensembles.mapping') }} as mapping,
    count(*) over members_of_one as n_members,
    graders.grader,
    graders.grader_id,
    graders.target,
    graders.asks_about,
    graders.kind,
    graders.needs_gold_answers,
    graders.answers_from,
    graders.scale_min,
    graders.scale_max,
    graders.created_at
from {{ ref('ensembles') }} as ensembles
inner join {{ ref('int_trials') }} as trials
    on {{ is_member('ensembles.grader', 'trials.grader', 'trials.first_trial') }}
inner join {{ ref('int_own_graders') }} as graders using (grader_id)
window members_of_one as (partition by ensembles.ensemble)
