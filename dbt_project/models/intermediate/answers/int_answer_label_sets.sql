{{ config(materialized='table') }}

with

kinds as (
    select * from {{ ref('judgment_kinds') }}
),

verdicts as (
    select * from {{ ref('int_battle_verdicts') }}
)

select
    collection,
    label_set,
    label_kind as kind,
    grader,
    rubric_version,
    count(*) as n_wanted,
    count(held) as n_graded
from {{ ref('int_answer_items') }}
group by all
having count(held) > 0
union all by name
select
    support_scores.collection,
    support_scores.label_set,
    kinds.label_sets as kind,
    if(starts_with(support_scores.grader, 'assessor:'), null, support_scores.grader) as grader,
    cast(sum(support_scores.n_citations - support_scores.n_missing) as bigint) as n_wanted,
    cast(sum(support_scores.n_judged) as bigint) as n_graded
from {{ ref('support_scores') }} as support_scores
inner join kinds on kinds.texts = 'citations'
group by all
union all by name
select
    wanted.collection,
    graders.grader || '/' || kinds.label_sets as label_set,
    kinds.label_sets as kind,
    graders.grader,
    count(*) as n_wanted,
    count(verdicts.grade) as n_graded
-- as `wanted_grades` has them, which would rank all runs
from {{ ref('int_drawn_battles') }} as wanted
inner join {{ ref('wanted_items') }} as items using (collection, query_id, item_id)
inner join kinds using (kind)
inner join {{ ref('graders') }} as graders
    on
        items.kind = graders.kind
        and (items.gold_answers is not null or not graders.needs_gold_answers)
semi join verdicts as at_work
    using (collection, grader)
left join verdicts
    using (collection, grader, query_id, passage_id, item_id)
where kinds.texts = 'battles'
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
