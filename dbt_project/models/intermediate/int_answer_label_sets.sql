with

assigned as (
    select
        collection,
        grader,
        rubric_version,
        sum(n_nuggets) as n_wanted,
        sum(n_assigned) as n_graded
    from {{ ref('nugget_scores') }}
    group by all
    having sum(n_assigned) > 0
),

verdicts as (
    select * from {{ ref('int_battle_verdicts') }}
)

select
    collection,
    grader || '/v' || rubric_version || '/nuggets' as label_set,
    'nuggets' as kind,
    grader,
    rubric_version,
    cast(n_wanted as bigint) as n_wanted,
    cast(n_graded as bigint) as n_graded
from assigned
union all
select
    collection,
    grader || '/' || citations || '_citation' as label_set,
    'support' as kind,
    grader,
    null as rubric_version,
    cast(sum(n_citations - n_missing) as bigint) as n_wanted,
    cast(sum(n_judged) as bigint) as n_graded
from {{ ref('support_scores') }}
group by all
union all
select
    wanted.collection,
    graders.grader || '/battles' as label_set,
    'battles' as kind,
    graders.grader,
    null as rubric_version,
    count(*) as n_wanted,
    count(verdicts.grade) as n_graded
from {{ ref('wanted_grades') }} as wanted
inner join {{ ref('int_graders') }} as graders
    on
        wanted.kind = graders.kind
        and (wanted.has_gold_answers or not graders.needs_gold_answers)
semi join verdicts as at_work
    using (collection, grader)
left join verdicts
    using (collection, grader, query_id, passage_id, item_id)
where wanted.kind = 'battle'
group by all
