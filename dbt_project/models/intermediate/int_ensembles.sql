{{ config(materialized='view') }}

with

members as (
    select
        ensembles.ensemble,
        ensembles.rule,
        own_graders.grader,
        own_graders.grader_id,
        own_graders.target,
        own_graders.asks_about,
        own_graders.kind,
        own_graders.needs_gold_answers,
        own_graders.answers_from,
        own_graders.scale_min,
        own_graders.scale_max,
        own_graders.created_at
    from {{ ref('ensembles') }} as ensembles
    inner join {{ ref('int_own_graders') }} as own_graders using (grader)
)

-- another rule, or another member, is another ensemble, as with graders
select
    ensemble,
    left(
        sha256(
            ensemble || ' ' || rule || ' '
            || string_agg(grader_id, ' ' order by grader_id) over members_of_one
        ),
        16
    ) as ensemble_id,
    rule,
    count(*) over members_of_one as n_members,
    grader,
    grader_id,
    target,
    asks_about,
    kind,
    needs_gold_answers,
    answers_from,
    scale_min,
    scale_max,
    created_at
from members
window members_of_one as (partition by ensemble)
