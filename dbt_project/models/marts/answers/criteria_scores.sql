{{ config(materialized='table') }}

with

totals as (
    select
        collection,
        system,
        query_id,
        grader,
        rubric_version,
        label_set,
        count(*) as n_criteria,
        count(held) as n_judged,
        count(*) filter (where tier = 'mandatory') as n_mandatory,
        count(*) filter (where tier = 'mandatory' and has_failed) as n_mandatory_failed,
        coalesce(sum(weight * held order by item_id), 0) as gained,
        coalesce(sum(weight order by item_id) filter (where held = 1), 0) as gained_strictly,
        sum(weight order by item_id) filter (where weight > 0) as attainable
    from {{ ref('int_answer_items') }}
    where measures = 'criteria'
    group by all
)

-- of an answer that was not looked into at all there is no score
select
    * exclude (gained, gained_strictly, attainable, label_set),
    if(n_judged > 0, round(gained / attainable, 10), null) as criteria_score,
    if(n_judged > 0, round(gained_strictly / attainable, 10), null) as strict_criteria_score,
    label_set
from totals
