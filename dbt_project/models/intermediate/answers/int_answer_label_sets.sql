{{ config(materialized='table') }}

with

assigned as (
    select
        collection,
        grader,
        rubric_version,
        if(kind = 'nugget', 'nuggets', 'criteria') as kind,
        count(*) as n_wanted,
        count(held) as n_graded
    from {{ ref('int_answer_items') }}
    group by all
    having count(held) > 0
),

verdicts as (
    select * from {{ ref('int_battle_verdicts') }}
)

select
    collection,
    grader || '/v' || rubric_version || '/' || kind as label_set,
    kind,
    grader,
    rubric_version,
    n_wanted,
    n_graded
from assigned
union all by name
select
    collection,
    grader || '/' || citations || '_citation' as label_set,
    'support' as kind,
    if(starts_with(grader, 'assessor:'), null, grader) as grader,
    cast(sum(n_citations - n_missing) as bigint) as n_wanted,
    cast(sum(n_judged) as bigint) as n_graded
from {{ ref('support_scores') }}
group by all
union all by name
select
    wanted.collection,
    graders.grader || '/battles' as label_set,
    'battles' as kind,
    graders.grader,
    count(*) as n_wanted,
    count(verdicts.grade) as n_graded
-- as `wanted_grades` has them, which would rank all runs
from {{ ref('int_drawn_battles') }} as wanted
inner join {{ ref('wanted_items') }} as items using (collection, query_id, item_id)
inner join {{ ref('int_graders') }} as graders
    on
        items.kind = graders.kind
        and (items.gold_answers is not null or not graders.needs_gold_answers)
semi join verdicts as at_work
    using (collection, grader)
left join verdicts
    using (collection, grader, query_id, passage_id, item_id)
where items.kind = 'battle'
group by all
union all by name
select
    collection,
    label_set,
    'scores' as kind,
    cast(sum(n_queries * n_systems) as bigint) as n_wanted,
    cast(sum(n_scores) as bigint) as n_graded
from (
    select
        collection,
        label_set,
        count(distinct query_id) as n_queries,
        count(distinct system) as n_systems,
        count(*) as n_scores
    from {{ ref('int_brought_scores') }}
    group by collection, label_set, measure
) as of_measures
group by all
